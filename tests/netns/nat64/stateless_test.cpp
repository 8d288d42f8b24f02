// SPDX-License-Identifier: Apache-2.0
// Other ways to have it: addresses that stand for each other, and frames that are steered from the ports
// themselves.
#include "base/file.hpp"
#include "netns/nat64/nat64_fixture.hpp"
#include "support/transfer.hpp"

#include <csignal>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Siit : public Nat64Test {};

TEST_F(Siit, HostIsReachedByItsIpv4Address) {
    makeDevice();
    must("ip route add 203.0.113.8 dev n64");
    startTnad();
    declareAs(deviceFunction);
    must("ip route add 203.0.113.9 dev n64");
    launchAndWait("--map 203.0.113.8=2001:db8::2 --error-source 203.0.113.9");
    EXPECT_THAT(inServer("ping -4 -n -c 1 -W 5 203.0.113.8").output, HasSubstr("1 received"));
    EXPECT_THAT(inServer("ping -4 -n -c 1 -W 5 -M do -s 1472 203.0.113.8").output,
                HasSubstr("From 203.0.113.9 icmp_seq=1 Frag needed and DF set (mtu = 1480)"));
    EXPECT_THAT(askServer(), MatchesRegex("203.0.113.8:[0-9]+"));
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
}

/// No IPv4 address to spare: Linux puts its own in place of the pool's, which is private.
TEST_F(Siit, PoolMayBeMasqueraded) {
    if (command({"nft", "add table ip t; add chain ip t c { type nat hook postrouting priority 100; }; "
                        "add rule ip t c oifname eth1 masquerade"})
            .exitCode != 0)
        GTEST_SKIP() << "needs nft";
    makeDevice();
    must("ip route add 10.64.0.1 dev n64");
    startTnad();
    declareAs(deviceFunction);
    launchAndWait("--pool 10.64.0.1");
    EXPECT_THAT(askServer(), MatchesRegex("192.0.2.1:[0-9]+"));
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
}

TEST_F(Siit, DeviceThatLosesLongPacketsIsWarnedOf) {
    makeDevice();
    must("ip link set n64p mtu 1500");
    startTnad();
    declareAs(deviceFunction);
    launchAndWait("--pool 203.0.113.5");
    EXPECT_TRUE(eventually([&] { return said().find("n64p has an MTU of 1500") != std::string::npos; }));
}

/// Frames are steered where they come in, and given back as if they had come in as what they have become.
class Nat64AtPorts : public Nat64Test {
protected:
    void SetUp() override {
        Nat64Test::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        sysctl("net.ipv4.conf.all.rp_filter", "0");
        for (const auto* device : {"eth0", "eth1"})
            sysctl(std::string("net.ipv4.conf.") + device + ".rp_filter", "0");
        enableIpv6("eth1"); // what has become IPv6 comes in there
        must("ip route add unreachable 203.0.113.5");
        ASSERT_EQ(inClient("ethtool -K lan0 tx off").exitCode, 0);
        ASSERT_EQ(inServer("ethtool -K wan0 tx off").exitCode, 0);
        startTnad();
        declareAs(R"(
users = ["nobody"]
ports = ["eth0", "eth1"]
[[rule]]
ports = ["eth0"]
to = "64:ff9b::/96"
[[rule]]
ports = ["eth1"]
to = "203.0.113.5"
)");
        launchAndWait("--pool 203.0.113.5 --then back");
    }
};

TEST_F(Nat64AtPorts, AllGoesBothWays) {
    EXPECT_THAT(inClient("ping -6 -n -c 1 -W 5 64:ff9b::c000:221").output, HasSubstr("1 received"));
    EXPECT_THAT(inClient("ping -6 -n -c 1 -W 5 -t 2 64:ff9b::c000:221").output, HasSubstr("1 received"))
        << "one hop";
    EXPECT_THAT(askServer(), MatchesRegex("203.0.113.5:[0-9]+"));
    EXPECT_THAT(askServer(4000), MatchesRegex("203.0.113.5:[0-9]+"));
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
}

TEST_F(Nat64AtPorts, WhatNobodyUsesIsLinuxs) {
    EXPECT_THAT(inServer("ping -4 -n -c 1 -W 5 203.0.113.5").output,
                HasSubstr("From 192.0.2.1 icmp_seq=1 Destination Host Unreachable"));
    EXPECT_EQ(endTranslator()["given_back"], 1);
}

} // namespace
} // namespace tna::test
