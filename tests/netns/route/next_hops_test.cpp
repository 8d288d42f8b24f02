// SPDX-License-Identifier: Apache-2.0
// Packets to destinations that no packet went to before: what the fast path knows of them is their next hop.
// With few routes, and with many, where it remembers what each destination is routed by.
#include "next_hops_fixture.hpp"
#include "support/own_objects.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <random>
#include <tna/fastpath.h>

namespace tna::test {
namespace {

TEST_P(NextHops, NewDestinationsAreFastAndGoTheirWay) {
    accelerate();
    for (unsigned i = 0; i < several; i++) {
        expectFast(packet({.to = fresh()}));
        expectFast(packet({.to = fresh(10)}), 2);
        expectFast(packet({.from = freshSource(), .to = fresh()}));
    }
}

/// All hosts behind a port without a gateway share a route, and each is a neighbour of its own.
TEST_P(NextHops, NeighboursWithoutAGateway) {
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
TEST_P(NextHops, MoreGatewaysThanPlaces) {
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

TEST_P(NextHops, Changes) {
    accelerate();
    expectChange("ip route add 10.9.0.0/17 via 10.0.2.2", "ip route del 10.9.0.0/17", 2);
    expectChange("ip route replace 10.9.0.0/16 via 10.0.2.2", "ip route replace 10.9.0.0/16 via 10.0.1.2", 2);
}

/// One of this host's addresses is behind it.
TEST_P(NextHops, SourceWhoseRouteLinuxPassesOver) {
    must("ip route add local 10.71.0.0/16 dev lo");
    must("ip route add 10.71.1.0/24 via 10.0.2.2");
    sysctl("net.ipv4.conf.p2.ignore_routes_with_linkdown", "1");
    accelerate();
    expectFastToMany();
    const auto from = [&](unsigned host) {
        return packet({.from = "10.71.1." + std::to_string(host), .to = fresh()});
    };
    expectFast(from(1));
    inFar("ip link set far2 down");
    ASSERT_TRUE(
        eventually([] { return command({"ip", "link", "show", "p2"}).output.contains("NO-CARRIER"); }));
    expectFastToMany();
    for (unsigned host = 1; host <= several; host++)
        EXPECT_EQ(treat(from(host)), (Treatment{slowPath("reverse-path"), {}}));
}

/// What a reverse path filter lets in of one type of service it may not of another, from the same source.
TEST_P(NextHops, SourceThatIsRoutedByTypeOfService) {
    must("ip route add 10.0.0.2/32 tos 0x04 via 10.0.2.2");
    sysctl("net.ipv4.conf.p0.rp_filter", "1");
    accelerate();
    const auto some = [&](std::uint8_t tos, const std::function<Arrivals(const Frame&)>& usual) {
        for (unsigned i = 0; i < several; i++) {
            const auto frame = packet({.to = fresh(), .tos = tos});
            EXPECT_EQ(treat(frame).out, usual(frame));
        }
    };
    some(0, [](const Frame& frame) { return routedTo(frame); });
    some(4, [](const Frame&) { return Arrivals{}; });
    sysctl("net.ipv4.conf.p0.rp_filter", "0");
}

/// The way of one type of service is known from packets to other networks.
TEST_P(NextHops, RouteOfOneTypeOfService) {
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
TEST_P(NextHops, Sources) {
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

/// One of this host's addresses has lost its local route, so that it looks like any other's.
TEST_P(NextHops, SourcesOfThisHostWithoutALocalRoute) {
    accelerate();
    const auto expectAll = [&] {
        for (unsigned i = 0; i < several; i++) {
            const auto frame = packet({.from = "10.0.2." + std::to_string(100 + i), .to = fresh()});
            EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
            EXPECT_EQ(treat(packet({.from = "10.0.2.1", .to = fresh()})),
                      (Treatment{slowPath("reverse-path"), {}}));
        }
    };
    expectAll();
    must("ip route del local 10.0.2.1 dev p2 table local");
    expectAll();
    must("ip address add 10.0.2.101/32 dev p2");
    for (unsigned i = 0; i < several; i++) // all that is known of addresses is known before it goes
        expectFast(packet({.from = "10.0.2." + std::to_string(150 + i), .to = fresh()}));
    must("ip route del local 10.0.2.101 dev p2 table local");
    EXPECT_EQ(treat(packet({.from = "10.0.2.101", .to = fresh()})),
              (Treatment{slowPath("reverse-path"), {}}));
    must("ip address del 10.0.2.101/32 dev p2");
    expectAll();
}

TEST_P(NextHops, AddressesThatAreNotRouted) {
    must("ip route add default via 10.0.1.2");
    accelerate();
    expectFastToMany(200);
    unsigned i = 1;
    expectSlowFromMany("ip-address", [&] { return packet({.to = "127.0.0." + std::to_string(++i)}); });
    expectSlowFromMany("ip-address", [&] { return packet({.from = "0.0.0.0", .to = fresh(200)}); });
}

TEST_P(NextHops, HeadersThatAreNotPlain) {
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
TEST_P(NextHops, NetworksWithinNetworks) {
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

INSTANTIATE_TEST_SUITE_P(FewRoutes, NextHops, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(ManyRoutes, NextHops, testing::Values(true));

/// What destinations are routed by is remembered.
class Destinations : public RouteTest {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        config_.limits.manyRoutes = 0;
        config_.limits.destinations = 4096;
        must("ip route add 10.9.0.0/16 via 10.0.1.2");
        must("ip route add 10.10.0.0/16 via 10.0.2.2");
    }
    /// A destination in 10.9.0.0/16 that is remembered now. Not each one is: one packet in many is evaluated
    /// from nothing, by chance, after which the cache of routes knows it.
    std::string teach() {
        for (unsigned i = 0; i < several; i++) {
            const auto to = fmt::format("10.9.7.{}", ++next_);
            expectFast(packet({.to = to}));
            expectFast(packet({.to = to}));
            if (remembered(to))
                return to;
        }
        ADD_FAILURE() << "no destination is remembered";
        return {};
    }
    /// Whether the address has a place, of whatever generation of routes.
    static bool remembered(const std::string& address) {
        return std::ranges::any_of(entriesOfOwnMaps<tna_destination>("tna_destinations"),
                                   [key = inet_addr(address.c_str())](const auto& place) {
                                       return static_cast<std::uint32_t>(place.key) == key;
                                   });
    }

private:
    unsigned next_ = 0;
};

TEST_F(Destinations, AreRememberedAndGoTheirWay) {
    // One line for each CPU, in which all are.
    config_.limits.destinations = TNA_DESTINATION_WAYS * static_cast<unsigned>(libbpf_num_possible_cpus());
    accelerate();
    expectFast(packet({.to = "10.9.0.1"})); // so that both next hops are known
    expectFast(packet({.to = "10.10.0.1"}), 2);
    std::vector<std::string> known;
    for (unsigned i = 1; i <= several; i++) {
        known.push_back(teach());
        expectFast(packet({.to = fmt::format("10.10.7.{}", i)}), 2);
        expectFast(packet({.to = fmt::format("10.10.7.{}", i)}), 2);
    }
    for (const auto& to : known)
        expectFast(packet({.to = to}));
}

TEST_F(Destinations, AreRememberedFromSoManyRoutesOn) {
    config_.limits.manyRoutes = 40;
    accelerate();
    EXPECT_TRUE(entriesOfOwnMaps<tna_destination>("tna_destinations").empty());
    for (unsigned i = 0; i < 40; i++)
        must(fmt::format("ip route add 10.30.{}.0/24 via 10.0.1.2", i));
    EXPECT_TRUE(eventually([&] {
        controller_->onTick();
        return !entriesOfOwnMaps<tna_destination>("tna_destinations").empty();
    }));
    expectFast(packet({.to = "10.9.0.1"}));
    teach();
}

/// Not the one that the next hop's entry is of: it needs no search, and any may be by chance.
TEST_F(Destinations, SourcesAreRememberedAsWell) {
    accelerate();
    expectFast(packet({.to = "10.9.0.1"}));
    bool known = false;
    for (unsigned i = 0; i < several && !known; i++) {
        const auto from = fmt::format("10.0.0.{}", 70 + i);
        for (unsigned host = 1; host <= 3; host++)
            expectFast(packet({.from = from, .to = fmt::format("10.9.{}.{}", i, host)}));
        known = remembered(from);
    }
    EXPECT_TRUE(known);
}

TEST_F(Destinations, TakeTheNewWayAfterEachChange) {
    accelerate();
    expectFast(packet({.to = "10.9.0.1"}));
    expectFast(packet({.to = "10.10.0.1"}), 2);
    const std::pair<const char*, const char*> changes[] = {
        {"ip route add 10.9.7.0/24 via 10.0.2.2", "ip route del 10.9.7.0/24"},
        {"ip route replace 10.9.0.0/16 via 10.0.2.2", "ip route replace 10.9.0.0/16 via 10.0.1.2"},
        {"ip route add {} via 10.0.2.2", "ip route del {}"},
    };
    for (const auto& [words, back] : changes) {
        SCOPED_TRACE(words);
        const auto to = teach();
        must(fmt::format(fmt::runtime(words), to));
        treat(packet({.to = "10.9.0.1"})); // so that its next hop is known again
        for (unsigned i = 0; i < several; i++)
            expectFast(packet({.to = to}), 2);
        must(fmt::format(fmt::runtime(back), to));
        expectFast(packet({.to = to}));
    }
}

/// Linux is silent about the change of a route that nobody has used. Packets to its network are found by the
/// next hop, which is known from another; the first one makes Linux notice, the second is remembered.
TEST_F(Destinations, OfARouteThatLinuxWasNeverAskedAbout) {
    accelerate();
    unsigned known = 0;
    for (unsigned i = 0; i < several; i++) {
        const auto network = fmt::format("10.{}.0.0/16", 20 + i), to = fmt::format("10.{}.0.7", 20 + i);
        must("ip route add " + network + " via 10.0.1.2");
        expectFast(packet({.to = "10.9.0.1"}));
        expectFast(packet({.to = to}));
        if (i % 2 == 0) {
            expectFast(packet({.to = to}));
            known += remembered(to) ? 1 : 0;
        }
        must("ip route replace " + network + " via 10.0.2.2");
        expectFast(packet({.to = to}), 2);
    }
    EXPECT_GT(known, 0U);
}

/// Blackholes and what depends on more than the destination.
TEST_F(Destinations, SpecialRoutesAreNotRemembered) {
    must("ip route add blackhole 10.9.3.0/24");
    must("ip route add 10.9.4.0/24 tos 0x10 via 10.0.2.2");
    accelerate();
    expectFast(packet({.to = "10.9.0.1"}));
    for (unsigned i = 0; i < several; i++) {
        EXPECT_EQ(treat(packet({.to = "10.9.3.7"})).out, Arrivals{});
        EXPECT_EQ(treat(packet({.to = "10.9.4.7"})).out, routedTo(packet({.to = "10.9.4.7"})));
    }
    EXPECT_FALSE(remembered("10.9.3.7"));
    EXPECT_FALSE(remembered("10.9.4.7"));
}

} // namespace
} // namespace tna::test
