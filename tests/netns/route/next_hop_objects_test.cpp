// SPDX-License-Identifier: Apache-2.0
// Routes by next hops that are objects of their own: Linux remembers something there for all of them.
#include "next_hops_fixture.hpp"

namespace tna::test {
namespace {

class NextHopObjects : public NextHops {
protected:
    /// Likewise, but that Linux has the first one by each next hop that is an object of its own.
    void expectChangeOfObject(const std::string& words, const std::string& back, unsigned port) {
        SCOPED_TRACE(words);
        const auto linuxsAndThenFast = [&](unsigned by) {
            const auto first = packet({.to = fresh()});
            EXPECT_EQ(treat(first), (Treatment{slowPath("special-route"), routedTo(first, by)}));
            expectFastToMany(9, by);
        };
        linuxsAndThenFast(1);
        must(words);
        linuxsAndThenFast(port);
        must(back);
        linuxsAndThenFast(1);
    }
};

TEST_P(NextHopObjects, Changes) {
    accelerate();
    must("ip nexthop add id 7 via 10.0.1.2 dev p1");
    must("ip route replace 10.9.0.0/16 nhid 7");
    expectChangeOfObject("ip nexthop replace id 7 via 10.0.2.2 dev p2",
                         "ip nexthop replace id 7 via 10.0.1.2 dev p1", 2);
}

/// Linux keeps the MTU of the route that was asked for first with the next hop, for all routes by it.
TEST_P(NextHopObjects, AreSharedByRoutes) {
    must("ip nexthop add id 7 via 10.0.1.2 dev p1");
    must("ip route add 10.20.0.0/16 nhid 7 mtu 1300");
    must("ip route add 10.30.0.0/16 nhid 7 metric 50");
    accelerate();
    const auto large = [&] { return packet({.to = fresh(30), .payload = 1310}); };
    const auto small = packet({.to = fresh(20)});
    EXPECT_EQ(treat(small).out, routedTo(small));
    expectFast(packet({.to = fresh(20)}));
    const auto cut = treat(large());
    EXPECT_EQ(cut.path, slowPath("special-route"));
    EXPECT_EQ(cut.out.contains(1) ? cut.out.at(1).size() : 0, 2U) << "as by the other route";
    expectSlowFromMany("special-route", large);
    must("ip route add 10.40.0.0/16 via 10.0.2.2"); // they are asked for anew
    const auto first = large();
    EXPECT_EQ(treat(first).out, routedTo(first));
    for (unsigned i = 0; i < several; i++)
        expectFast(large());
    expectSlowFromMany("special-route", [&] { return packet({.to = fresh(20)}); });
}

INSTANTIATE_TEST_SUITE_P(FewRoutes, NextHopObjects, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(ManyRoutes, NextHopObjects, testing::Values(true));

} // namespace
} // namespace tna::test
