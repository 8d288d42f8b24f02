// SPDX-License-Identifier: Apache-2.0
#include "support/fence.hpp"

#include "support/command.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

namespace tna::test {

namespace {
/// Each device a frame goes through takes one turn; the longest way in these tests is through six.
constexpr std::uint16_t turns = 16;

Frame post(std::uint16_t number) {
    return FrameBuilder().ethernet(station(0xffff), station(0xfffe)).etherType(number | 0x8000U).raw(46);
}
} // namespace

OneCpu::OneCpu() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &here);
    ::sched_setaffinity(0, sizeof(here), &here);
}

OneCpu::~OneCpu() {
    ::sched_setaffinity(0, sizeof(before_), &before_);
}

Fence::Fence() {
    must("ip link add fence0 type veth peer name fence1");
    must("ethtool -K fence1 gro on");
    must("ip link set fence0 up");
    must("ip link set fence1 up");
    in_.emplace("fence0");
    out_.emplace("fence1");
    // Until the kernel has noticed that the link is up, it throws frames away.
    const bool open = eventually(
        [&] {
            in_->send(post(turns));
            return out_->receive(std::chrono::milliseconds(10)) == post(turns);
        },
        std::chrono::seconds(20));
    EXPECT_TRUE(open) << "the fence does not open";
    pass();
}

void Fence::pass() const {
    for (std::uint16_t i = 0; i < turns; i++) {
        in_->send(post(i));
        auto arrived = out_->receive(std::chrono::seconds(20));
        while (arrived == post(turns)) // a late one of the first
            arrived = out_->receive(std::chrono::seconds(20));
        if (arrived != post(i)) {
            ADD_FAILURE() << "the fence's own frame was lost";
            return;
        }
    }
}

} // namespace tna::test
