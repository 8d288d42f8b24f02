// SPDX-License-Identifier: Apache-2.0
// What ports have counted, while the fast path moves it from place to place.
#include "bridge_fixture.hpp"
#include "support/own_objects.hpp"

namespace tna::test {
namespace {

using Counters = AcceleratedBridgeTest;

/// A flow that makes room for another one adds what it has counted to the ports; who has read those before,
/// and the flow after that, finds it in neither place.
TEST_F(Counters, NeverFall) {
    constexpr unsigned frames = 8;
    for (unsigned i = 0; i < frames; i++)
        EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto before = counted(0).fast;
    const auto movesOn = [](tna_flow& flow) { flow.packets = 0; };
    ASSERT_GT(changeEntriesOfOwnMaps<tna_flow>("tna_flows", movesOn), 0U);
    EXPECT_EQ(counted(0).fast, before);
    const auto arrives = [](tna_flow& flow) { flow.packets = flow.bytes == 0 ? 0 : 2 * frames; };
    ASSERT_GT(changeEntriesOfOwnMaps<tna_flow>("tna_flows", arrives), 0U);
    EXPECT_GT(counted(0).fast, before);
}

} // namespace
} // namespace tna::test
