// SPDX-License-Identifier: Apache-2.0
// The same for IPv6 as next_hops_test.cpp.
#include "route_fixture.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <random>

namespace tna::test {
namespace {

/// How many destinations of each kind: one packet in many is evaluated from nothing, by chance.
constexpr unsigned several = 12;

class NextHops6 : public Route6Test {
protected:
    void SetUp() override {
        Route6Test::SetUp();
        if (IsSkipped())
            return;
        must("ip -6 route add fd09::/16 via fd00:0:0:1::2");
        must("ip -6 route add fd0a::/16 via fd00:0:0:2::2");
    }
    /// Never the same destination twice.
    [[nodiscard]] std::string fresh(const char* network = "fd09") {
        return fmt::format("{}::{:x}:1", network, ++next_);
    }
    void expectFastToMany(const char* network = "fd09", unsigned port = 1) {
        for (unsigned i = 0; i < several; i++)
            expectFast(packet({.to = fresh(network)}), port);
    }
    /// What a change makes of packets to new destinations, and that all is as before when it is undone.
    void expectChange(const std::string& words, const std::string& back, unsigned port) {
        SCOPED_TRACE(words);
        expectFastToMany();
        must(words);
        expectFastToMany("fd09", port);
        must(back);
        expectFastToMany();
    }

private:
    unsigned next_ = 0;
};

TEST_F(NextHops6, NewDestinationsAreFastAndGoTheirWay) {
    accelerate();
    for (unsigned i = 0; i < several; i++) {
        expectFast(packet({.to = fresh()}));
        expectFast(packet({.to = fresh("fd0a")}), 2);
        expectFast(packet({.from = fmt::format("fd77::{}", i + 1), .to = fresh()}));
    }
}

/// More gateways than places in the cache.
TEST_F(NextHops6, MoreGatewaysThanPlaces) {
    constexpr unsigned gateways = 90;
    config_.limits.flowsPerCpu = 64;
    accelerate();
    for (unsigned i = 0; i < gateways; i++) {
        const auto gateway = fmt::format("fd00:0:0:1::{:x}", 100 + i);
        must("ip neigh replace " + gateway + " lladdr " + text(station(100 + i)) + " dev p1 nud permanent");
        must(fmt::format("ip -6 route add fd0c:{:x}::/32 via {}", i, gateway));
    }
    for (unsigned host = 1; host <= 3; host++)
        for (unsigned i = 0; i < gateways; i++) {
            const auto frame = packet({.to = fmt::format("fd0c:{:x}::{}", i, host)});
            EXPECT_EQ(treat(frame),
                      (Treatment{fastPath(), {{1, {oneHopFurther(frame, station(100 + i), portMac(1))}}}}));
        }
}

TEST_F(NextHops6, Changes) {
    accelerate();
    expectChange("ip -6 route add fd09::/17 via fd00:0:0:2::2", "ip -6 route del fd09::/17", 2);
    expectChange("ip -6 route replace fd09::/16 via fd00:0:0:2::2",
                 "ip -6 route replace fd09::/16 via fd00:0:0:1::2", 2);
    must("ip nexthop add id 7 via fd00:0:0:1::2 dev p1");
    must("ip -6 route replace fd09::/16 nhid 7");
    const auto linuxsAndThenFast = [&](unsigned by) {
        const auto first = packet({.to = "fd09::77"});
        EXPECT_EQ(treat(first), (Treatment{slowPath("special-route"), routedTo(first, by)}));
        expectFastToMany("fd09", by);
    };
    linuxsAndThenFast(1);
    must("ip nexthop replace id 7 via fd00:0:0:2::2 dev p2");
    linuxsAndThenFast(2);
}

/// Linux keeps the MTU of the route that was asked for first with the next hop, for all routes by it.
TEST_F(NextHops6, RoutesThatShareANextHop) {
    must("ip nexthop add id 7 via fd00:0:0:1::2 dev p1");
    must("ip -6 route add fd20::/16 nhid 7 mtu 1300");
    must("ip -6 route add fd30::/16 nhid 7");
    accelerate();
    const auto large = [](unsigned host) {
        return packet({.to = fmt::format("fd30::{}", host), .payload = 1310});
    };
    const auto small = packet({.to = "fd20::1"});
    EXPECT_EQ(treat(small).out, routedTo(small));
    expectFast(small);
    for (unsigned host = 1; host <= several; host++) {
        const auto got = treat(large(host));
        EXPECT_EQ(got.path, slowPath("special-route"));
        EXPECT_FALSE(got.out.contains(1)) << "too large, as by the other route";
    }
    must("ip -6 route add fd40::/16 via fd00:0:0:2::2"); // they are asked for anew
    EXPECT_EQ(treat(large(1)).out, routedTo(large(1)));
    for (unsigned host = 1; host <= several; host++)
        expectFast(large(host));
    EXPECT_EQ(treat(small), (Treatment{slowPath("special-route"), routedTo(small)}));
    // What a next hop remembers goes with a group that nobody uses, and no generation tells.
    must("ip nexthop add id 9 via fd00:0:0:2::2 dev p2");
    must("ip nexthop add id 10 group 7");
    EXPECT_EQ(treat(large(1)).out, routedTo(large(1)));
    expectFast(large(1));
    must("ip nexthop replace id 10 group 7/9");
    EXPECT_EQ(treat(small).out, routedTo(small));
    EXPECT_FALSE(treat(large(1)).out.contains(1)) << "too large, as by the other route";
}

/// What is for many is not forwarded, and neither is then what goes by the same next hop.
TEST_F(NextHops6, RouteForManyThatSharesANextHop) {
    must("ip nexthop add id 7 via fd00:0:0:1::2 dev p1");
    must("ip -6 route replace fd09::/16 nhid 7");
    must("ip -6 route add multicast ff05::/16 nhid 7 table local");
    accelerate();
    const auto first = packet({.to = "fd09::77"});
    EXPECT_EQ(treat(first).out, routedTo(first));
    expectFast(first);
    must("ip -6 route add fd40::/16 via fd00:0:0:2::2"); // they are asked for anew
    auto toMany = ipv6Frame(portMac(1), station(2), {.from = "fd00:0:0:1::2", .to = "ff05::9"});
    const std::array<std::uint8_t, 6> group{0x33, 0x33, 0, 0, 0, 9};
    std::ranges::copy(group, toMany.bytes.begin());
    EXPECT_EQ(treat(toMany, 1).path.fast, 0U);
    EXPECT_EQ(treat(first), (Treatment{slowPath("special-route"), {}}));
    must("ip -6 route add fd41::/16 via fd00:0:0:2::2");
    EXPECT_EQ(treat(first).out, routedTo(first));
    expectFast(first);
}

/// Linux passes it over then, if it is told to, and moves no generation.
TEST_F(NextHops6, DeviceThatIsDormant) {
    must("ip -6 route add fd09::/16 via fd00:0:0:2::2 metric 2000");
    sysctl("net.ipv6.conf.p1.ignore_routes_with_linkdown", "1");
    accelerate();
    const auto frame = packet({.to = "fd09::77"});
    expectFast(frame);
    must("ip link set p1 state dormant");
    ASSERT_TRUE(eventually([] {
        return command({"ip", "-6", "route", "show", "dev", "p1"}).output.find("linkdown") !=
               std::string::npos;
    }));
    EXPECT_EQ(treat(frame).out, routedTo(frame, 2));
    must("ip link set p1 state up");
    EXPECT_TRUE(eventually([&] { return treat(frame).out == routedTo(frame); }));
    expectFast(frame);
}

/// Linux may route them on a CPU that remembers something else.
TEST_F(NextHops6, ObjectsWhereOtherCpusReceive) {
    must("ip nexthop add id 7 via fd00:0:0:1::2 dev p1");
    must("ip -6 route replace fd09::/16 nhid 7");
    accelerate();
    const auto first = packet({.to = "fd09::77"});
    EXPECT_EQ(treat(first).out, routedTo(first));
    expectFast(first);
    const auto steered = [](const char* cpus) {
        return command({"unshare", "-m", "sh", "-c",
                        "mount -t sysfs none /sys && echo " + std::string(cpus) +
                            " > /sys/class/net/p0/queues/rx-0/rps_cpus"})
                   .exitCode == 0;
    };
    if (!steered("3"))
        GTEST_SKIP() << "this kernel steers no packets";
    EXPECT_EQ(treat(first), (Treatment{slowPath("special-route"), routedTo(first)}));
    ASSERT_TRUE(steered("0"));
    EXPECT_EQ(treat(first).out, routedTo(first));
    expectFast(first);
}

/// By the same gateway, some with an MTU of their own.
TEST_F(NextHops6, MtuOfEachRoute) {
    must("ip -6 route add fd09:1::/32 via fd00:0:0:1::2 mtu 1300");
    accelerate();
    expectFastToMany();
    for (unsigned i = 1; i <= several; i++) {
        const auto large = packet({.to = fmt::format("fd09::{}", i), .payload = 1310});
        const auto tooLarge = packet({.to = fmt::format("fd09:1::{}", i), .payload = 1310});
        expectFast(large);
        EXPECT_EQ(send(tooLarge), slowPath("route-mtu"));
        expectFast(large);
    }
}

TEST_F(NextHops6, AddressesThatAreNotRouted) {
    must("ip -6 route add default via fd00:0:0:1::2");
    accelerate();
    expectFastToMany("2001:db8");
    for (unsigned i = 1; i <= several; i++) {
        EXPECT_EQ(send(packet({.to = fmt::format("fe80::{}", i)})), slowPath("ip-address"));
        EXPECT_EQ(send(packet({.from = fmt::format("fe80::{}", i), .to = fresh("2001:db8")})),
                  slowPath("ip-address"));
    }
}

/// Networks within networks, by two next hops, some of them leading nowhere: each packet as plain Linux.
TEST_F(NextHops6, NetworksWithinNetworks) {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
    const auto address = [&] {
        return fmt::format("fd20:{:x}:{:x}::{:x}", random() & 3U, (random() & 0xffU) << 8U, random() & 0xffU);
    };
    for (unsigned i = 0; i < 150; i++)
        must(fmt::format("ip -6 route replace {}/{} via fd00:0:0:{}::2", address(), 128, 1 + random() % 2));
    for (unsigned i = 0; i < 60; i++)
        must(fmt::format("ip -6 route replace fd20:{:x}:{:x}::/{} via fd00:0:0:{}::2", i & 3U,
                         i << 10U & 0xffffU, 40 + i % 8, 1 + random() % 2));
    std::vector<Frame> frames;
    for (unsigned i = 0; i < 250; i++)
        frames.push_back(packet({.to = address()}));
    EXPECT_GT(expectEachAsLinux(frames), 0U);
}

} // namespace
} // namespace tna::test
