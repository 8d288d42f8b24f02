// SPDX-License-Identifier: Apache-2.0
// Tables that are large or full, and packets that never arrive.
#include "route_fixture.hpp"
#include "support/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

using ::testing::Contains;
using ::testing::Pair;

class RouteExtremes : public RouteTest {
protected:
    /// The host with this number in 10.50.0.0/16, and its MAC address.
    static std::string host(unsigned number) {
        return fmt::format("10.50.{}.{}", number / 250, 1 + number % 250);
    }
    static Mac macOf(unsigned number) { return station(0x1000 + number); }
};

TEST_F(RouteExtremes, EachOfThousandsOfNeighboursGetsItsOwnPackets) {
    constexpr unsigned neighbours = 4000;
    must("ip address add 10.50.255.1/16 dev p1");
    std::vector<std::string> lines;
    for (unsigned i = 0; i < neighbours; i++)
        lines.push_back(fmt::format("neigh add {} lladdr {} dev p1 nud permanent", host(i), text(macOf(i))));
    inOneRun(lines);
    accelerate();
    std::uint64_t fast = 0;
    for (unsigned i = 0; i < neighbours && !IsSkipped(); i++) {
        const auto frame = packet({.to = host(i)});
        const auto treated = treat(frame);
        const Arrivals expected{{1, {oneHopFurther(frame, macOf(i), portMac(1))}}};
        ASSERT_EQ(treated.out, expected) << i;
        fast += treated.path.fast;
    }
    EXPECT_EQ(fast, neighbours);
}

/// By p0 in and by p1 out, where somebody sends it back in by p0, until it has been on the way for too long.
TEST_F(RouteExtremes, PacketThatGoesInCirclesEndsAsWithLinux) {
    std::uint64_t fast = 0;
    const auto circle = [&] {
        std::vector<Arrivals> seen;
        for (auto frame = packet({.ttl = 40}); seen.size() < 50;) {
            const auto treated = treat(frame);
            fast += treated.path.fast;
            seen.push_back(treated.out);
            const auto next = treated.out.find(1);
            if (next == treated.out.end())
                break;
            frame = next->second.front();
            std::ranges::copy(portMac(0), frame.bytes.begin());
            std::ranges::copy(station(1), frame.bytes.begin() + 6);
        }
        return seen;
    };
    const auto linux = circle();
    ASSERT_EQ(linux.size(), 40U);
    ASSERT_TRUE(linux.back().contains(0)) << "the sender is told";
    accelerate();
    fast = 0;
    EXPECT_EQ(circle(), linux);
    EXPECT_EQ(fast, 39U);
}

/// More neighbours than the kernel has room for, for all namespaces together: only on a machine of its own.
TEST_F(RouteExtremes, NeighboursThatAreTooManyLeaveTheOthersAlone) {
    if (std::getenv("TNA_IN_VM") == nullptr)
        GTEST_SKIP() << "fills the machine's table of neighbours: tests/vm does that";
    must(
        "nsenter -t 1 -n sysctl -qw net.ipv4.neigh.default.gc_thresh3=16 net.ipv4.neigh.default.gc_thresh2=8 "
        "net.ipv4.neigh.default.gc_thresh1=4");
    must("ip address add 10.50.255.1/16 dev p1");
    accelerate();
    expectFast(packet());
    // Linux asks who these are, as long as it has room for the question; nobody answers.
    for (unsigned i = 0; i < 100; i++)
        far(0).send(packet({.to = host(i)}));
    const auto known = treat(packet());
    EXPECT_EQ(known.path, fastPath());
    EXPECT_THAT(known.out, Contains(Pair(1U, Contains(routed(packet())))));
    const auto refused = command({"awk", "NR > 1 && $NF != \"00000000\"", "/proc/1/net/stat/arp_cache"});
    EXPECT_NE(refused.output, "") << "there was room for all of them";
}

} // namespace
} // namespace tna::test
