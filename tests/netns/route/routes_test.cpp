// SPDX-License-Identifier: Apache-2.0
// Routes, next hops, addresses and neighbours change: the first packet after that goes the new way.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

using RouteChanges = RouteTest;

const std::string viaOne = "ip route replace 10.9.0.0/16 via 10.0.1.2";
const std::string viaTwo = "ip route replace 10.9.0.0/16 via 10.0.2.2";

/// About a packet that a route to 10.9.0.0/16 leads to p1. Each has a sender of its own, because Linux tells
/// one sender only now and then that there is no route.
Condition route(const char* name, std::vector<std::string> set, const std::string& reason,
                std::vector<std::string> unset = {viaOne}, std::size_t payload = 26) {
    static unsigned senders = 10;
    const auto sender = "10.0.0." + std::to_string(senders++);
    const auto known = "ip neigh replace " + sender + " lladdr " + text(station(1)) + " dev p0 nud permanent";
    return RouteTest::about({name, {viaOne, known}, std::move(set), reason, std::move(unset)},
                            {.from = sender, .to = "10.9.1.1", .payload = payload});
}

TEST_F(RouteChanges, Routes) {
    expectAllAsLinux(
        {route("Replaced", {viaTwo}, ""),
         route("MoreSpecific", {"ip route add 10.9.1.0/24 via 10.0.2.2"}, "", {"ip route del 10.9.1.0/24"}),
         route("MuchMoreSpecific", {"ip route add 10.9.1.1/32 via 10.0.2.2"}, "",
               {"ip route del 10.9.1.1/32"}),
         route("LessSpecificThanDefault", {"ip route add default via 10.0.2.2", "ip route del 10.9.0.0/16"},
               "", {viaOne, "ip route del default"}),
         route("BetterMetric",
               {"ip route add 10.9.0.0/16 via 10.0.1.2 metric 5", "ip route del 10.9.0.0/16 metric 0",
                "ip route add 10.9.0.0/16 via 10.0.2.2 metric 3"},
               "", {viaOne, "ip route del 10.9.0.0/16 metric 3", "ip route del 10.9.0.0/16 metric 5"}),
         route("Deleted", {"ip route del 10.9.0.0/16"}, "not-routed"),
         route("Local", {"ip route add local 10.9.1.1/32 dev lo"}, "not-routed",
               {"ip route del local 10.9.1.1/32 dev lo"}),
         route("Broadcast", {"ip route add broadcast 10.9.1.1/32 dev p1"}, "not-routed",
               {"ip route del broadcast 10.9.1.1/32 dev p1"}),
         route("Unreachable", {"ip route add unreachable 10.9.1.0/24"}, "not-routed",
               {"ip route del 10.9.1.0/24"}),
         route("Prohibited", {"ip route add prohibit 10.9.1.0/24"}, "not-routed",
               {"ip route del 10.9.1.0/24"}),
         route("Blackhole", {"ip route add blackhole 10.9.1.0/24"}, "not-routed",
               {"ip route del 10.9.1.0/24"}),
         route("Throw", {"ip route add throw 10.9.1.0/24"}, "not-routed", {"ip route del 10.9.1.0/24"}),
         route("BackOutOfItsPort",
               {"sysctl -qw net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.p0.send_redirects=0",
                "ip route replace 10.9.0.0/16 via 10.0.0.2"},
               ""),
         route("SeveralNextHops", {"ip route replace 10.9.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.2.2"},
               "multipath"),
         route("TypeOfService", {"ip route add 10.9.0.0/16 tos 0x10 via 10.0.2.2"}, "special-route",
               {"ip route del 10.9.0.0/16 tos 0x10 via 10.0.2.2"}),
         route("SmallMtu", {viaOne + " mtu 600"}, "route-mtu", {viaOne}, 700),
         route("LargeMtu", {viaOne + " mtu 9000"}, ""),
         route("LockedMtu", {viaOne + " mtu lock 600"}, "route-mtu", {viaOne}, 700),
         route("LargeLockedMtu", {viaOne + " mtu lock 1400"}, "", {viaOne}, 700),
         route("LockedWithoutAnMtu", {viaOne + " mtu lock 0"}, "route-mtu", {viaOne}, 700),
         route("LockedWithoutAnMtuButSmall", {viaOne + " mtu lock 0"}, "", {viaOne}, 500),
         route("OfAnotherTable", {"ip route add 10.9.1.1/32 via 10.0.2.2 table 7"}, "",
               {"ip route flush table 7"})});
}

/// About a packet that a next hop object leads to p1.
Condition object(const char* name, const std::string& set, const std::string& reason,
                 const std::string& unset = "ip nexthop replace id 7 via 10.0.1.2 dev p1") {
    auto condition = RouteTest::about(
        {name,
         {"ip nexthop add id 7 via 10.0.1.2 dev p1 && ip nexthop add id 9 via 10.0.2.2 dev p2",
          "ip nexthop add id 8 group 7/9", "ip route replace 10.9.0.0/16 nhid 7"},
         {set},
         reason,
         {unset}},
        {.to = "10.9.1.1"});
    condition.linuxHasFirst = true; // it remembers something there
    return condition;
}

TEST_F(RouteChanges, NextHopObjects) {
    expectAllAsLinux({object("Replaced", "ip nexthop replace id 7 via 10.0.2.2 dev p2", ""),
                      object("Group", "ip route replace 10.9.0.0/16 nhid 8", "multipath",
                             "ip route replace 10.9.0.0/16 nhid 7"),
                      object("Another", "ip route replace 10.9.0.0/16 nhid 9", "",
                             "ip route replace 10.9.0.0/16 nhid 7")});
}

Condition host(const char* name, std::vector<std::string> set, const std::string& reason,
               std::vector<std::string> unset) {
    return RouteTest::about({name, {}, std::move(set), reason, std::move(unset)});
}
const std::string known = "ip neigh replace 10.0.1.2 lladdr 02:00:00:00:00:02 dev p1 nud ";

TEST_F(RouteChanges, Neighbour) {
    expectAllAsLinux(
        {host("AnotherMac", {"ip neigh replace 10.0.1.2 lladdr 02:00:00:00:00:09 dev p1 nud permanent"}, "",
              {known + "permanent"}),
         host("Reachable", {known + "reachable"}, "", {known + "permanent"}),
         host("NoArp", {known + "noarp"}, "", {known + "permanent"}),
         host("Stale", {known + "stale"}, "neighbour", {known + "permanent"}),
         host("Delay", {known + "delay"}, "", {known + "permanent"}),
         host("Gone", {"ip neigh del 10.0.1.2 dev p1"}, "neighbour", {known + "permanent"}),
         host("GoneAndBack", {"ip neigh del 10.0.1.2 dev p1", known + "permanent"}, "", {}),
         host("PortWithAnotherMac", {"ip link set p1 address 02:00:00:00:09:09", known + "permanent"}, "",
              {"ip link set p1 address 02:00:00:00:01:01", known + "permanent"}),
         host("ArrivingPortWithAnotherMac", {"ip link set p0 address 02:00:00:00:09:09"}, "other-station",
              {"ip link set p0 address 02:00:00:00:01:00"})});
}

TEST_F(RouteChanges, Address) {
    expectAllAsLinux({host("OfTheLeavingPortGone", {"ip address del 10.0.1.1/24 dev p1"}, "not-routed",
                           {"ip address add 10.0.1.1/24 dev p1", known + "permanent"}),
                      host("DestinationBecomesLocal", {"ip address add 10.0.1.2/32 dev p2"}, "not-routed",
                           {"ip address del 10.0.1.2/32 dev p2"}),
                      host("SourceBecomesLocal", {"ip address add 10.0.0.2/32 dev p2"}, "reverse-path",
                           {"ip address del 10.0.0.2/32 dev p2"})});
}

} // namespace
} // namespace tna::test
