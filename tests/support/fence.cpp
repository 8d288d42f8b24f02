// SPDX-License-Identifier: Apache-2.0
#include "support/fence.hpp"

#include "support/command.hpp"

#include <gtest/gtest.h>

namespace tna::test {

Fence::Fence() {
    must("ip link add fence0 type veth peer name fence1");
    must("ethtool -K fence1 gro on");
    must("ip link set fence0 up");
    must("ip link set fence1 up");
    auto fence = wires::Fence::make();
    if (fence)
        fence_.emplace(std::move(*fence));
    else
        ADD_FAILURE() << fence.error().sentence();
}

void Fence::pass() const {
    ASSERT_TRUE(fence_) << "the fence does not open";
    const auto passed = fence_->pass();
    EXPECT_TRUE(passed) << passed.error().sentence();
}

} // namespace tna::test
