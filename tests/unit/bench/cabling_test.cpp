// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/cabling.hpp"

#include "bench/contenders/contender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// eth1, free, and a bridge.
model::Network network() {
    model::Network all;
    model::Link link;
    link.ifindex = 2;
    link.name = "eth1";
    link.flags = model::link_flag::up;
    link.carrier = true;
    link.mtu = 1500;
    all.links[2] = link;
    link.ifindex = 3;
    link.name = "br0";
    all.links[3] = link;
    return all;
}

std::string problem(const model::Network& all, bool force = false, unsigned size = 64,
                    const std::set<std::string>& defaultRoutes = {}) {
    return problemWithInterface(all, defaultRoutes, "eth1", size, force);
}

TEST(BenchCabling, FreeInterfaceIsTaken) {
    EXPECT_THAT(problem(network()), IsEmpty());
    EXPECT_THAT(problem(network(), false, 1514), IsEmpty());
}

TEST(BenchCabling, WhatCannotWorkIsNamedWithTheWayOut) {
    EXPECT_EQ(problemWithInterface(network(), {}, "eth7", 64, true), "there is no interface 'eth7'");
    auto all = network();
    all.links[2].flags = 0;
    EXPECT_THAT(problem(all, true), HasSubstr("'eth1' is down: ip link set eth1 up"));
    all = network();
    all.links[2].carrier = false;
    EXPECT_THAT(problem(all, true), HasSubstr("no carrier"));
    EXPECT_THAT(problem(network(), true, 1515), HasSubstr("an MTU of 1500, frames of 1515 bytes need 1501"));
    all = network();
    all.links[2].ethernet = false;
    EXPECT_THAT(problem(all, true), HasSubstr("no Ethernet interface"));
}

TEST(BenchCabling, InterfaceInUseIsRefusedUnlessForced) {
    const auto refused = [](const model::Network& all, const std::string& words,
                            const std::set<std::string>& defaultRoutes = {}) {
        EXPECT_THAT(problem(all, false, 64, defaultRoutes), HasSubstr(words));
        EXPECT_THAT(problem(all, false, 64, defaultRoutes), HasSubstr("--force"));
        EXPECT_THAT(problem(all, true, 64, defaultRoutes), IsEmpty());
    };
    refused(network(), "carries the default route", {"eth1"});
    auto all = network();
    all.links[2].master = 3;
    refused(all, "belongs to br0");
    all = network();
    all.links[2].addresses = {{4, "192.0.2.1/24", "global"}};
    refused(all, "has the address 192.0.2.1/24");
    all.links[2].addresses = {{6, "fe80::1/64", "link"}};
    EXPECT_THAT(problem(all), IsEmpty()) << "every interface has one";
    all = network();
    all.links[4] = all.links[2];
    all.links[4].ifindex = 4;
    all.links[4].name = "eth1.7";
    all.links[4].kind = "vlan";
    all.links[4].lower = 2;
    refused(all, "has eth1.7 on top of it");
}

TEST(BenchCabling, ProgramOfSomebodyElseIsNeverTakenOff) {
    auto all = network();
    all.links[2].xdp.driverProgram = 7;
    EXPECT_THAT(problem(all, true), HasSubstr("has an XDP program"));
    EXPECT_THAT(problem(all, true), ::testing::Not(HasSubstr("--force")));
}

TEST(BenchCabling, DefaultRoutesAreFoundInBothTables) {
    const std::string ipv4 =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        "eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "eth1\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        "eth2\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n";
    const std::string zero(32, '0');
    const auto line = [&](const std::string& length, const std::string& device) {
        return zero + " " + length + " " + zero + " 00 " + zero + " 00000400 00000001 00000000 00000003 " +
               device + "\n";
    };
    EXPECT_THAT(defaultRoutesOf(ipv4, line("00", "eth5") + line("40", "eth6") + line("00", "lo")),
                ElementsAre("eth0", "eth5"));
    EXPECT_THAT(defaultRoutesOf("", ""), IsEmpty());
}

TEST(BenchCabling, OptionsThatDoNotFitTogetherAreNamed) {
    EXPECT_THAT(problemWith(Cabling{}), IsEmpty());
    EXPECT_THAT(problemWith(Cabling{.tx = "a", .rx = "b"}), IsEmpty());
    EXPECT_THAT(problemWith(Cabling{.dut = "none"}), IsEmpty());
    EXPECT_THAT(problemWith(Cabling{.tx = "a"}), HasSubstr("need each other"));
    EXPECT_THAT(problemWith(Cabling{.rx = "a"}), HasSubstr("need each other"));
    EXPECT_THAT(problemWith(Cabling{.tx = "a", .rx = "a"}), HasSubstr("two interfaces"));
    EXPECT_THAT(problemWith(Cabling{.dut = "ssh there"}), HasSubstr("name --tx and --rx"));
    EXPECT_THAT(problemWith(Cabling{.force = true}), HasSubstr("name --tx and --rx"));
    EXPECT_THAT(problemWith(bench::Setup{.rules = 3, .cabling = {.tx = "a", .rx = "b"}}),
                HasSubstr("on the machine under test itself"));
}

TEST(BenchCabling, ContendersAreNamesThatTheOtherMachineKnows) {
    const bench::Setup bare{.cabling = {.tx = "a", .rx = "b"}};
    EXPECT_THAT(chooseContenders({}, {"linux"}, bare), ElementsAre("dut"));
    EXPECT_THAT(problemWithContenders({"anything"}, bare), IsEmpty());
    EXPECT_THAT(problemWithContenders({"linux", "tna"}, bare), HasSubstr("a command with --dut"));
    const bench::Setup asked{.cabling = {.tx = "a", .rx = "b", .dut = "ssh there use"}};
    EXPECT_THAT(problemWithContenders({"linux", "tna"}, asked), IsEmpty());
    const bench::Setup tools{.cabling = {.dut = "none"}};
    EXPECT_THAT(chooseContenders({}, {"linux"}, tools), ElementsAre("direct"));
    EXPECT_THAT(problemWithContenders({"direct"}, tools), IsEmpty());
    EXPECT_THAT(problemWithContenders({"linux"}, tools), HasSubstr("leave out --contender"));
    EXPECT_THAT(chooseContenders({}, {"linux", "tna"}, {}), ElementsAre("linux", "tna"));
}

} // namespace
} // namespace tna::bench
