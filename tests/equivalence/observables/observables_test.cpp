// SPDX-License-Identifier: Apache-2.0
// What a user can look at after packets took the fast path: the rows of docs/transparency.md about counters
// and tables.
#include "diff/play.hpp"
#include "diff/random/writer.hpp"
#include "support/namespace.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace tna::test {
namespace {

using diff::station;

constexpr unsigned each = 100; ///< packets in each direction

struct Look {
    const char* name;
    const char* words;
    bool differs = false;
};
void PrintTo(const Look& look, std::ostream* out) {
    *out << look.words;
}

diff::Packet packet(unsigned port, const diff::Mac& to, unsigned number) {
    const unsigned other = 1 - port;
    return {port, diff::Writer(to, station(1 + port))
                      .packet(diff::Header4{.from = diff::address4(port, 2),
                                            .to = diff::address4(other, 2),
                                            .id = static_cast<std::uint16_t>(number)},
                              diff::udp(4000, 4001, 18, number))
                      .done()};
}

class Observables : public ::testing::TestWithParam<Look> {
protected:
    static void SetUpTestSuite() { spdlog::set_level(spdlog::level::warn); }

    /// Packets both ways after these commands; then somebody looks.
    static void look(const std::vector<std::string>& setup, const std::array<diff::Mac, 2>& to) {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        diff::Case what{.ports = {"p0", "p1"}, .steps = {}};
        for (const auto& words : setup)
            what.steps.emplace_back(diff::Command{words});
        for (unsigned i = 0; i < each; i++)
            for (const unsigned port : {0U, 1U})
                what.steps.emplace_back(packet(port, to[port], i));
        what.steps.emplace_back(diff::Command{GetParam().words});
        const auto stage = diff::Stage::make();
        ASSERT_TRUE(stage) << stage.error().sentence();
        const auto outcome = stage->play(what, {});
        ASSERT_TRUE(outcome) << outcome.error().sentence();
        if (!outcome->impossible.empty())
            GTEST_SKIP() << "not on this machine: " << outcome->impossible;
        if (outcome->watched && outcome->figures.fast == 0)
            GTEST_SKIP() << "the kernel is not read in place here, so that packets are not routed";
        if (outcome->figures.reasons.contains("capture"))
            GTEST_SKIP() << "somebody captures";
        EXPECT_GE(outcome->figures.fast, 2 * each - 4);
        EXPECT_EQ(outcome->figures.fast + outcome->figures.slow, 2 * each);
        EXPECT_EQ(outcome->difference && outcome->difference->where == GetParam().words, GetParam().differs)
            << (outcome->difference ? outcome->difference->what : "no difference");
    }
};

const std::vector<std::string> bridge = {
    "sysctl -qw net.ipv6.conf.all.disable_ipv6=1",
    "ip link add br0 address 02:00:00:00:ff:00 type bridge mcast_snooping 0",
    "ip link set p0 master br0 up",
    "ip link set p1 master br0 up",
    "ip link set br0 up",
    "for i in iptables ip6tables arptables; do [ ! -e /proc/sys/net/bridge ] || sysctl -qw "
    "net.bridge.bridge-nf-call-$i=0; done"};

class OfABridge : public Observables {};
TEST_P(OfABridge, AreAsDocumented) {
    look(bridge, {station(2), station(1)});
}

class OfAQueue : public Observables {};
TEST_P(OfAQueue, AreAsDocumented) {
    auto setup = bridge;
    setup.emplace_back("tc qdisc add dev p1 root pfifo_fast");
    look(setup, {station(2), station(1)});
}

class OfARouter : public Observables {};
TEST_P(OfARouter, AreAsDocumented) {
    look({"sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 "
          "net.ipv4.conf.p0.rp_filter=0 net.ipv4.conf.p1.rp_filter=0",
          "ip link set p0 up", "ip link set p1 up", "ip address add 10.0.0.1/24 dev p0",
          "ip address add 10.0.1.1/24 dev p1",
          "ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:01 dev p0 nud permanent",
          "ip neigh add 10.0.1.2 lladdr 02:00:00:00:00:02 dev p1 nud permanent"},
         {diff::Mac{2, 0, 0, 0, 0xff, 0x10}, diff::Mac{2, 0, 0, 0, 0xff, 0x11}});
}

/// Columns of packets: received, with errors and drops, and sent.
const Look packetsOfPorts{"PacketsOfPorts",
                          "awk '/p[01]:/ { print $1, $3, $4, $5, $11, $12, $13 }' /proc/net/dev"};
const Look bytesSent{"BytesSent", "awk '/p[01]:/ { print $1, $10 }' /proc/net/dev"};
const Look xdpOfTheLink{"XdpOfTheLink", "ip link show p0 | grep -o xdp", true};
const Look driver{"StatisticsOfTheDriver", "ethtool -S p0 | grep xdp_packets", true};
const Look snmpOfTheHost{"WhatTheHostDelivers", "awk '/^(Icmp|Udp|Tcp):/' /proc/net/snmp"};

std::string nameOf(const ::testing::TestParamInfo<Look>& look) {
    return look.param.name;
}
INSTANTIATE_TEST_SUITE_P(Looks, OfABridge,
                         ::testing::Values(packetsOfPorts, bytesSent, xdpOfTheLink, driver, snmpOfTheHost,
                                           Look{"CountersOfTheBridge", "ip -s link show br0 | tail -n +2"},
                                           Look{"Stations", "bridge fdb show br br0 | sort"},
                                           Look{"Ports", "bridge link show | grep -o 'master.*'"},
                                           Look{"Ip", "awk '/^Ip:/' /proc/net/snmp"}),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Looks, OfAQueue,
                         ::testing::Values(Look{"CountersOfTheDiscipline",
                                                "tc -s qdisc show dev p1 | grep -o 'Sent.*pkt'", true}),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(
    Looks, OfARouter,
    ::testing::Values(packetsOfPorts, bytesSent, xdpOfTheLink, driver, snmpOfTheHost,
                      Look{"Neighbours", "ip neigh show | sort"}, Look{"Routes", "ip route show table all"},
                      Look{"Forwarded", "awk '/^Ip:/ { print $4, $7 }' /proc/net/snmp", true},
                      Look{"RestOfIp",
                           "awk '/^Ip:/ { print $2, $3, $5, $6, $8, $9, $10, $12, $13 }' /proc/net/snmp"}),
    nameOf);

} // namespace
} // namespace tna::test
