// SPDX-License-Identifier: Apache-2.0
// IPv6 routes, next hops, addresses and neighbours change: the first packet after that goes the new way.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

using Route6Changes = Route6Test;

const std::string viaOne = "ip -6 route replace fd09::/16 via fd00:0:0:1::2";
const std::string viaTwo = "ip -6 route replace fd09::/16 via fd00:0:0:2::2";
const std::string gateway = "ip -6 route replace fd09::/16 via fe80::2 dev p1";

/// About a packet that a route to fd09::/16 leads to p1.
Condition route(const char* name, std::vector<std::string> set, const std::string& reason,
                std::vector<std::string> unset = {viaOne}, std::size_t payload = 26) {
    return Route6Test::about({name, {viaOne}, std::move(set), reason, std::move(unset)},
                             {.to = "fd09:1::1", .payload = payload});
}

/// A route that a command adds and one like it takes away.
Condition added(const char* name, const std::string& words, const std::string& reason) {
    return route(name, {"ip -6 route add " + words}, reason, {"ip -6 route del " + words});
}

TEST_F(Route6Changes, Routes) {
    expectAllAsLinux(
        {route("Replaced", {viaTwo}, ""), added("MoreSpecific", "fd09:1::/32 via fd00:0:0:2::2", ""),
         added("MuchMoreSpecific", "fd09:1::1/128 via fd00:0:0:2::2", ""),
         route("LessSpecificThanDefault",
               {"ip -6 route add default via fd00:0:0:2::2", "ip -6 route del fd09::/16"}, "",
               {viaOne, "ip -6 route del default"}),
         added("BetterMetric", "fd09::/16 via fd00:0:0:2::2 metric 5", ""),
         added("WorseMetric", "fd09::/16 via fd00:0:0:2::2 metric 2000", ""),
         route("Deleted", {"ip -6 route del fd09::/16"}, "not-routed"),
         route("DeletedAndBack", {"ip -6 route del fd09::/16", viaOne}, "", {}),
         added("Local", "local fd09:1::1/128 dev lo", "not-routed"),
         added("Anycast", "anycast fd09:1::1/128 dev p1", "not-routed"),
         added("Unreachable", "unreachable fd09:1::/32", "not-routed"),
         added("Prohibited", "prohibit fd09:1::/32", "not-routed"),
         added("Blackhole", "blackhole fd09:1::/32", "not-routed"),
         added("Throw", "throw fd09:1::/32", "not-routed"),
         added("InTheTableOfLocalAddresses", "fd09:1::1/128 via fd00:0:0:2::2 table local", "route-unproved"),
         added("OfAnotherTable", "fd09:1::1/128 via fd00:0:0:2::2 table 7", "")});
}

TEST_F(Route6Changes, SpecialRoutes) {
    expectAllAsLinux(
        {route("BackOutOfItsPort", {"ip -6 route replace fd09::/16 via fd00:0:0:0::2"}, "same-device"),
         route("SeveralNextHops",
               {"ip -6 route del fd09::/16",
                "ip -6 route add fd09::/16 nexthop via fd00:0:0:1::2 nexthop via fd00:0:0:2::2"},
               "multipath", {"ip -6 route del fd09::/16", viaOne}),
         route("OneMoreNextHop", {"ip -6 route append fd09::/16 via fd00:0:0:2::2"}, "multipath",
               {"ip -6 route del fd09::/16 via fd00:0:0:2::2"}),
         route("OneMoreDevice", {"ip -6 route append fd09::/16 dev p2"}, "multipath",
               {"ip -6 route del fd09::/16 dev p2"}),
         added("OfASource", "fd09::/16 from fd00::/64 via fd00:0:0:2::2", "special-route"),
         added("OfAnotherSource", "fd09:2::/32 from fd77::/64 via fd00:0:0:2::2", "special-route"),
         route("LinkLocalGateway",
               {"ip neigh replace fe80::2 lladdr 02:00:00:00:00:09 dev p1 nud permanent", gateway}, ""),
         route("OnLink",
               {"ip neigh replace fd09:1::1 lladdr 02:00:00:00:00:09 dev p2 nud permanent",
                "ip -6 route replace fd09::/16 dev p2"},
               ""),
         route("ThatExpiresLater", {viaOne + " expires 1000"}, ""),
         route("SmallMtu", {viaOne + " mtu 1300"}, "route-mtu", {viaOne}, 1400),
         route("LargeMtu", {viaOne + " mtu 9000"}, ""),
         route("LockedMtu", {viaOne + " mtu lock 1300"}, "route-mtu", {viaOne}, 1400),
         route("LockedWithoutAnMtu", {viaOne + " mtu lock 0"}, "", {viaOne}, 1400),
         route("Encapsulating", {"ip -6 route replace fd09::/16 encap ip6 id 7 dst fd00:0:0:2::2 dev p1"},
               "special-route")});
}

/// Linux says that the route is there already, and takes its MTU over all the same.
TEST_F(Route6Changes, MtuOfARouteThatIsAddedAgain) {
    must(viaOne + " expires 1000");
    const auto frame = packet({.to = "fd09:1::1", .payload = 1400});
    accelerate();
    if (IsSkipped())
        return;
    expectFast(frame);
    EXPECT_NE(
        command({"ip", "-6", "route", "append", "fd09::/16", "via", "fd00:0:0:1::2", "mtu", "1300"}).exitCode,
        0);
    EXPECT_EQ(treat(frame).path, slowPath("route-mtu"));
}

/// About a packet that a next hop object leads to p1.
Condition object(const char* name, const std::string& set, const std::string& reason,
                 const std::string& unset = "ip nexthop replace id 7 via fd00:0:0:1::2 dev p1") {
    auto condition = Route6Test::about(
        {name,
         {"ip nexthop add id 7 via fd00:0:0:1::2 dev p1 && ip nexthop add id 9 via fd00:0:0:2::2 dev p2",
          "ip nexthop add id 5 via fd00:0:0:1::2 dev p1 && ip nexthop add id 8 group 5/9 && ip -6 nexthop "
          "add id 6 blackhole",
          "ip -6 route add fd09::/16 nhid 7"},
         {set},
         reason,
         {unset}},
        {.to = "fd09:1::1"});
    condition.linuxHasFirst = true; // it remembers something there
    return condition;
}

TEST_F(Route6Changes, NextHopObjects) {
    const std::string back = "ip -6 route replace fd09::/16 nhid 7";
    expectAllAsLinux({object("Replaced", "ip nexthop replace id 7 via fd00:0:0:2::2 dev p2", ""),
                      object("BecomesABlackhole", "ip -6 nexthop replace id 7 blackhole", "not-routed"),
                      object("Group", "ip -6 route replace fd09::/16 nhid 8", "multipath", back),
                      object("Another", "ip -6 route replace fd09::/16 nhid 9", "", back),
                      object("Blackhole", "ip -6 route replace fd09::/16 nhid 6", "not-routed", back)});
}

Condition host(const char* name, std::vector<std::string> set, const std::string& reason,
               std::vector<std::string> unset, std::size_t payload = 26) {
    return Route6Test::about({name, {}, std::move(set), reason, std::move(unset)}, {.payload = payload});
}
const std::string known = "ip neigh replace fd00:0:0:1::2 lladdr 02:00:00:00:00:02 dev p1 nud ";
const std::string address = "ip address add fd00:0:0:1::1/64 dev p1 nodad";

TEST_F(Route6Changes, Neighbour) {
    expectAllAsLinux(
        {host("AnotherMac", {"ip neigh replace fd00:0:0:1::2 lladdr 02:00:00:00:00:09 dev p1 nud permanent"},
              "", {known + "permanent"}),
         host("Reachable", {known + "reachable"}, "", {known + "permanent"}),
         host("NoArp", {known + "noarp"}, "", {known + "permanent"}),
         host("Stale", {known + "stale"}, "neighbour", {known + "permanent"}),
         host("Delay", {known + "delay"}, "", {known + "permanent"}),
         host("Gone", {"ip neigh del fd00:0:0:1::2 dev p1"}, "neighbour", {known + "permanent"}),
         host("GoneAndAnotherCame",
              {"ip neigh del fd00:0:0:1::2 dev p1",
               "ip neigh add fd77::2 lladdr 02:00:00:00:00:02 dev p1 nud permanent"},
              "neighbour", {known + "permanent", "ip neigh del fd77::2 dev p1"}),
         host("GoneAndBack", {"ip neigh del fd00:0:0:1::2 dev p1", known + "permanent"}, "", {}),
         host("PortWithAnotherMac", {"ip link set p1 address 02:00:00:00:09:09", known + "permanent"}, "",
              {"ip link set p1 address 02:00:00:00:01:01", known + "permanent"}),
         host("ArrivingPortWithAnotherMac", {"ip link set p0 address 02:00:00:00:09:09"}, "other-station",
              {"ip link set p0 address 02:00:00:00:01:00"})});
}

TEST_F(Route6Changes, Address) {
    expectAllAsLinux(
        {host("OfTheLeavingPortGone", {"ip address del fd00:0:0:1::1/64 dev p1"}, "not-routed",
              {address, known + "permanent"}),
         // Linux makes the address its own a moment after it has been told to.
         host("DestinationBecomesLocal",
              {"ip address add fd00:0:0:1::2/128 dev p2 nodad",
               "timeout 20 sh -c 'until ip -6 route get fd00:0:0:1::2 | grep -q ^local; do :; done'"},
              "not-routed", {"ip address del fd00:0:0:1::2/128 dev p2"}),
         host("SourceBecomesLocal", {"ip address add fd00:0:0:0::2/128 dev p2 nodad"}, "",
              {"ip address del fd00:0:0:0::2/128 dev p2"})});
}

/// The device's MTU and the one for IPv6 are two settings. Below 1280 bytes there is no IPv6 at all.
TEST_F(Route6Changes, Mtu) {
    expectAllAsLinux(
        {host("OfTheDevice", {"ip link set p1 mtu 1400"}, "route-mtu", {"ip link set p1 mtu 1500"}, 1400),
         host("OfIpv6", {"sysctl -qw net.ipv6.conf.p1.mtu=1400"}, "route-mtu",
              {"sysctl -qw net.ipv6.conf.p1.mtu=1500"}, 1400),
         host("TooSmallForIpv6", {"ip link set p1 mtu 1200"}, "not-routed",
              {"ip link set p1 mtu 1500", "sysctl -qw net.ipv6.conf.p1.disable_ipv6=0",
               "sysctl -qw net.ipv6.conf.p1.forwarding=1", address, known + "permanent"})});
}

} // namespace
} // namespace tna::test
