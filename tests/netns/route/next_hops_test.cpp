// SPDX-License-Identifier: Apache-2.0
// Packets to destinations that no packet went to before: what the fast path knows of them is their next hop.
#include "route_fixture.hpp"

#include <fmt/format.h>
#include <random>

namespace tna::test {
namespace {

/// How many destinations of each kind: one packet in many is evaluated from nothing, by chance.
constexpr unsigned several = 12;

class NextHops : public RouteTest {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        must("ip route add 10.9.0.0/16 via 10.0.1.2");
        must("ip route add 10.10.0.0/16 via 10.0.2.2");
    }
    /// Never the same destination twice.
    [[nodiscard]] std::string fresh(unsigned network = 9) {
        next_++;
        return fmt::format("10.{}.{}.{}", network, next_ / 250, next_ % 250 + 1);
    }
    [[nodiscard]] std::string freshSource() { return "10.0.0." + std::to_string(10 + next_++); }
    void expectFastToMany(unsigned network = 9, unsigned port = 1) {
        for (unsigned i = 0; i < several; i++)
            expectFast(packet({.to = fresh(network)}), port);
    }
    void expectSlowFromMany(const std::string& reason, const std::function<Frame()>& frame) {
        for (unsigned i = 0; i < several; i++)
            EXPECT_EQ(send(frame()), slowPath(reason));
    }
    /// What a change makes of packets to new destinations, and that all is as before when it is undone.
    void expectChange(const std::string& words, const std::string& back, unsigned port) {
        SCOPED_TRACE(words);
        expectFastToMany();
        must(words);
        expectFastToMany(9, port);
        must(back);
        expectFastToMany();
    }

private:
    unsigned next_ = 0;
};

TEST_F(NextHops, NewDestinationsAreFastAndGoTheirWay) {
    accelerate();
    for (unsigned i = 0; i < several; i++) {
        expectFast(packet({.to = fresh()}));
        expectFast(packet({.to = fresh(10)}), 2);
        expectFast(packet({.from = freshSource(), .to = fresh()}));
    }
}

/// All hosts behind a port without a gateway share a route, and each is a neighbour of its own.
TEST_F(NextHops, NeighboursWithoutAGateway) {
    config_.limits.flowsPerCpu = 64; // so that one of them lies where the cache looks for the next hop
    accelerate();
    must("ip route add 10.11.0.0/24 dev p1");
    for (unsigned i = 1; i <= 250; i++) {
        const auto to = "10.11.0." + std::to_string(i);
        must("ip neigh replace " + to + " lladdr " + text(station(100 + i)) + " dev p1 nud permanent");
        const auto frame = packet({.to = to});
        EXPECT_EQ(treat(frame),
                  (Treatment{fastPath(), {{1, {oneHopFurther(frame, station(100 + i), portMac(1))}}}}));
    }
}

/// More next hops than places in the cache.
TEST_F(NextHops, MoreGatewaysThanPlaces) {
    constexpr unsigned gateways = 90;
    config_.limits.flowsPerCpu = 64;
    accelerate();
    for (unsigned i = 0; i < gateways; i++) {
        const auto gateway = "10.0.1." + std::to_string(100 + i);
        must("ip neigh replace " + gateway + " lladdr " + text(station(100 + i)) + " dev p1 nud permanent");
        must(fmt::format("ip route add 10.12.{}.0/24 via {}", i, gateway));
    }
    for (unsigned host = 1; host <= 3; host++)
        for (unsigned i = 0; i < gateways; i++) {
            const auto frame = packet({.to = fmt::format("10.12.{}.{}", i, host)});
            EXPECT_EQ(treat(frame),
                      (Treatment{fastPath(), {{1, {oneHopFurther(frame, station(100 + i), portMac(1))}}}}));
        }
}

TEST_F(NextHops, Changes) {
    accelerate();
    must("ip nexthop add id 7 via 10.0.1.2 dev p1");
    must("ip route replace 10.9.0.0/16 nhid 7");
    expectChange("ip nexthop replace id 7 via 10.0.2.2 dev p2", "ip nexthop replace id 7 via 10.0.1.2 dev p1",
                 2);
    expectChange("ip route add 10.9.0.0/17 via 10.0.2.2", "ip route del 10.9.0.0/17", 2);
    expectChange("ip route replace 10.9.0.0/16 via 10.0.2.2", "ip route replace 10.9.0.0/16 via 10.0.1.2", 2);
}

/// The way of one type of service is known from packets to other networks.
TEST_F(NextHops, RouteOfOneTypeOfService) {
    accelerate();
    expectFastToMany(10, 2);
    must("ip route add 10.9.0.0/16 tos 0x10 via 10.0.2.2");
    expectFastToMany(10, 2);
    for (unsigned i = 0; i < several; i++) {
        const auto frame = packet({.to = fresh()});
        EXPECT_EQ(treat(frame).out, routedTo(frame));
    }
}

/// What comes from elsewhere than it should, or from this host, is found out for senders never seen before,
/// too.
TEST_F(NextHops, Sources) {
    sysctl("net.ipv4.conf.p0.rp_filter", "1");
    must("ip route add 10.13.0.0/16 via 10.0.2.2");
    accelerate();
    expectFastToMany();
    unsigned i = 0;
    expectSlowFromMany("reverse-path",
                       [&] { return packet({.from = "10.13.0." + std::to_string(++i), .to = fresh()}); });
    expectFastToMany();
    expectSlowFromMany("reverse-path",
                       [&] { return packet({.from = "10.99.0." + std::to_string(++i), .to = fresh()}); });
    sysctl("net.ipv4.conf.p0.rp_filter", "0");
    expectFastToMany();
    expectSlowFromMany("reverse-path", [&] { return packet({.from = "10.0.2.1", .to = fresh()}); });
    const auto frame = packet({.from = "10.13.0.1", .to = fresh()});
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
}

TEST_F(NextHops, AddressesThatAreNotRouted) {
    must("ip route add default via 10.0.1.2");
    accelerate();
    expectFastToMany(200);
    unsigned i = 1;
    expectSlowFromMany("ip-address", [&] { return packet({.to = "127.0.0." + std::to_string(++i)}); });
    expectSlowFromMany("ip-address", [&] { return packet({.from = "0.0.0.0", .to = fresh(200)}); });
}

TEST_F(NextHops, HeadersThatAreNotPlain) {
    accelerate();
    expectFastToMany();
    expectSlowFromMany("ip-header", [&] {
        auto frame = packet({.to = fresh()});
        frame.bytes[14] = 0x55; // a version that is not 4
        finishIpv4(frame);
        return frame;
    });
}

/// Networks within networks, by two next hops, some of them leading nowhere: each packet as plain Linux.
TEST_F(NextHops, NetworksWithinNetworks) {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
    const auto address = [&](unsigned bits) {
        const auto value = 20U << 24U | (random() & 0x3ffU) << 14U | (random() & 0x3fU);
        const auto prefix = value & ~0U << (32 - bits);
        return fmt::format("{}.{}.{}.{}", prefix >> 24U, prefix >> 16U & 255U, prefix >> 8U & 255U,
                           prefix & 255U);
    };
    const char* const ways[] = {"via 10.0.1.2", "via 10.0.2.2", "via 10.0.1.2 mtu 1400"};
    for (unsigned i = 0; i < 300; i++) {
        const auto bits = 8 + static_cast<unsigned>(random() % 25);
        must(fmt::format("ip route replace {}{}/{} {}", i % 10 == 9 ? "blackhole " : "", address(bits), bits,
                         i % 10 == 9 ? "" : ways[random() % 3]));
    }
    std::vector<Frame> frames;
    for (unsigned i = 0; i < 300; i++)
        frames.push_back(packet({.to = address(32)}));
    EXPECT_GT(expectEachAsLinux(frames), 0U);
}

} // namespace
} // namespace tna::test
