// SPDX-License-Identifier: Apache-2.0
// The routing module's straight line, run by hand (BPF_PROG_TEST_RUN): frames of senders always get the
// closer look, for what their buffers may hold, and these do not.
#include "bridged_route_fixture.hpp"
#include "route_pipeline.hpp"
#include "support/own_objects.hpp"

#include <algorithm>
#include <set>

namespace tna::test {
namespace {

/// From one bridge to another, with its own program for p0.
template <typename Router>
class BridgedPipeline : public RoutePipeline<FromBridgeToBridgeOf<Router>> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        return {.modules = {assemble::bridgeModule(),
                            assemble::routeModule({.bridges = true, .station = {Router::portMac(0)}})},
                .brNetfilter = brNetfilter()};
    }
    /// Changes of which not every protocol's generation tells.
    void expectAsked(const std::string& option) {
        const auto packet = Router::packet();
        for (const std::string bridge : {"br0", "br1"}) {
            this->expectRouted(packet, "before " + bridge);
            this->expectRouted(packet, "once more, from the cache");
            must("ip link set " + bridge + " type bridge " + option + " 1");
            this->expectUntouched(packet, bridge);
            must("ip link set " + bridge + " type bridge " + option + " 0");
        }
        this->expectRouted(packet, "before generic XDP");
        Router::whileItDropsAll("br0", [&] { this->expectUntouched(packet, "generic XDP"); });
        this->expectRouted(packet, "after generic XDP");
    }
};

template <typename Router>
class StraightLine : public RoutePipeline<Router> {
protected:
    [[nodiscard]] const char* port() const override { return port_; }
    /// Nothing announces names to routing; table 7 leads to the host behind p2.
    void expectNamesFollowed(const std::string& ip, const std::string& other) {
        const auto packet = Router::packet();
        must(ip + " route add default via " + other + " table 7");
        must(ip + " rule add iif q0 lookup 7");
        this->expectRouted(packet, "at first");
        this->expectRouted(packet, "once more, from the cache");
        if (command({"ip", "link", "set", "p0", "name", "q0"}).exitCode != 0)
            GTEST_SKIP() << "ports that are up keep their names (before Linux 6.2)";
        port_ = "q0";
        EXPECT_EQ(this->ran(packet), std::pair(int{XDP_REDIRECT}, Router::routed(packet, 2)));
    }

private:
    const char* port_ = "p0";
};

using RouteStraightLine = StraightLine<RouteTest>;
using Route6StraightLine = StraightLine<Route6Test>;
using BridgedStraightLine = BridgedPipeline<RouteTest>;
using Bridged6StraightLine = BridgedPipeline<Route6Test>;

TEST_F(RouteStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

TEST_F(RouteStraightLine, SeesThatThePortHasAnotherName) {
    expectNamesFollowed("ip", "10.0.2.2");
}

TEST_F(Route6StraightLine, SeesThatThePortHasAnotherName) {
    expectNamesFollowed("ip -6", "fd00:0:0:2::2");
}

TEST_F(RouteStraightLine, SeesThatAPacketOfAKnownWayHasOptions) {
    expectRouted(packet(), "at first");
    expectRouted(packet(), "once more, from the cache");
    expectUntouched(packet({.options = 4}), "options");
}

TEST_F(RouteStraightLine, SeesThatAPacketIsTooShortForThePort) {
    expectShortLeftToLinux(14 + 20);
}

TEST_F(Route6StraightLine, SeesThatAPacketIsTooShortForThePort) {
    expectShortLeftToLinux(14 + 40);
}

TEST_F(RouteStraightLine, SeesThatAnotherRouteIsBetter) {
    expectRouted(packet(), "at first");
    expectRouted(packet(), "once more, from the cache");
    must("ip route add 10.0.1.2/32 via 10.0.2.2");
    EXPECT_EQ(ran(packet()), std::pair(int{XDP_REDIRECT}, routed(packet(), 2)));
}

TEST_F(Route6StraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet());
}

/// A neighbour leaves when its device gets another address, which no generation of IPv6 tells of, and the
/// next one may be in the same memory: all of it is as it was.
void rememberAnotherSource() {
    // 02:01:... instead of 02:00:...
    const auto change = [](tna_route6& known) { known.route.source ^= 0x100; };
    ASSERT_GT(changeEntriesOfOwnMaps<tna_route6>("tna_routes6", change), 0U);
}

TEST_F(Route6StraightLine, SeesThatThePortHasAnotherAddress) {
    expectRouted(packet(), "at first");
    rememberAnotherSource();
    expectRouted(packet(), "remembered with the address that the port had before");
}

TEST_F(Bridged6StraightLine, SeesThatTheBridgeHasAnotherAddress) {
    must("ip link set p1 address 02:01:00:00:01:01"); // not the bridge's, which packets carry
    expectRouted(packet(), "at first");
    rememberAnotherSource();
    expectRouted(packet(), "remembered with the address that the bridge had before");
}

/// The same where the next one in that memory has another key, of the same station.
TEST_F(Route6StraightLine, SeesThatTheNeighbourIsAnother) {
    must("ip neigh replace fd00:0:0:1::3 lladdr 02:00:00:00:00:02 dev p1 nud permanent");
    const auto neighboursAfter = [&](const Frame& frame) {
        expectRouted(frame, "so that it is remembered");
        std::set<std::uint64_t> all;
        for (const auto& known : entriesOfOwnMaps<tna_route6>("tna_routes6"))
            all.insert(known.route.neighbour);
        all.erase(0);
        return all;
    };
    const auto one = neighboursAfter(packet());
    const auto both = neighboursAfter(packet({.to = "fd00:0:0:1::3"}));
    ASSERT_EQ(one.size(), 1U);
    ASSERT_EQ(both.size(), 2U);
    const auto other = *std::ranges::find_if(both, [&](auto each) { return !one.contains(each); });
    ASSERT_GT(changeEntriesOfOwnMaps<tna_route6>("tna_routes6",
                                                 [&](tna_route6& known) { known.route.neighbour = other; }),
              0U);
    EXPECT_EQ(neighboursAfter(packet()), both);
}

TEST_F(BridgedStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet(), closerLooks({"p0", "br0"}, {"p1", "br1"}));
}

TEST_F(Bridged6StraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(packet(), closerLooks({"p0", "br0"}, {"p1", "br1"}));
}

TEST_F(BridgedStraightLine, SeesWhatBridgesAreToldToAsk) {
    expectAsked("nf_call_iptables");
}

TEST_F(Bridged6StraightLine, SeesWhatBridgesAreToldToAsk) {
    expectAsked("nf_call_ip6tables");
}

TEST_F(BridgedStraightLine, SeesThatAPacketIsTooLargeForThePort) {
    // A bridge whose MTU was set once no longer follows its ports'.
    for (const char* change : {"br1 mtu 1400", "br1 mtu 1500", "p1 mtu 600"})
        must(std::string("ip link set ") + change);
    const auto fits = packet({.payload = 584});
    expectRouted(fits, "as large as a bridge sends: it leaves room for a tag");
    expectRouted(fits, "once more, from the cache");
    expectUntouched(packet({.payload = 585}), "a byte more");
}

TEST_F(Route6StraightLine, SeesThatARouteHasExpired) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2 expires 3");
    const auto frame = packet({.to = "fd09::1"});
    expectRouted(frame, "at first");
    expectRouted(frame, "from the cache");
    const auto expired = [] {
        return !command({"ip", "-6", "route", "get", "fd09::1"}).output.contains("via fd00:0:0:1::2");
    };
    ASSERT_TRUE(eventually(expired, std::chrono::seconds(20))) << "the route does not expire";
    expectUntouched(frame, "expired");
}

} // namespace
} // namespace tna::test
