// SPDX-License-Identifier: Apache-2.0
// Connections of TCP through a bridge that has the rules called: their windows are minded as those of routed
// ones.
#include "bridged_fixture.hpp"
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

class BridgedTcp : public CallsRules<Tcp>, public ::testing::WithParamInterface<bool> {
protected:
    void SetUp() override {
        CallsRules::SetUp();
        atTcxIf(GetParam());
    }
    [[nodiscard]] Mac nextStation(unsigned host) const override { return station(2 - host); }
    [[nodiscard]] Arrivals comesOut(const Frame& made, unsigned port) const override {
        return {{port, {made}}};
    }
};

/// Nobody routes it, whatever marks it has.
TEST_P(BridgedTcp, ThatRulesMarkBesideRoutingRules) {
    open("table ip guard { chain forward { type filter hook forward priority 0; ct state established accept; "
         "};"
         " chain marks { type filter hook prerouting priority -140; meta mark set ct mark; }; }");
    must("ip rule add fwmark 1 lookup 7");
    becomesFast();
    const auto invalid = frame(0, {.payload = 10, .ahead = 10000000});
    EXPECT_EQ(treat(invalid).out, comesOut(invalid, 1));
    ASSERT_EQ(markConnection(connection_, 1), 0);
    EXPECT_EQ(treat(invalid).out, comesOut(invalid, 1));
}

TEST_P(BridgedTcp, IsFastOnceConnectionTrackingMindsNoWindows) {
    open();
    becomesFast();
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(pass(0, {.flags = psh | ack, .payload = 100}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
}

TEST_P(BridgedTcp, OutsideOfItsWindowsIsDroppedWhereTheRulesDropIt) {
    open();
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 1000000000}, "flow-window", false);
    EXPECT_EQ(pass(0, {}), fastPath());
}

/// Docker's rules let what is invalid pass within a bridge, and drop it elsewhere.
TEST_P(BridgedTcp, OutsideOfItsWindowsPassesWhereTheRulesLetItPassWithinTheBridge) {
    open(likeDocker("ip"));
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 1000000000}, "flow-window");
    EXPECT_EQ(pass(0, {}), fastPath());
}

TEST_P(BridgedTcp, IsLinuxsWhereWhatIsInvalidMayBeDroppedWithinTheBridge) {
    open("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
         " ct state established accept; tcp dport 5000 accept; }; }");
    for (int i = 0; i < 5; i++) {
        pump();
        EXPECT_EQ(pass(0, {.flags = psh | ack, .payload = 10}), slowPath("ip-netfilter"));
        EXPECT_EQ(pass(1, {}), slowPath("ip-netfilter"));
    }
}

/// What is known of one bridge is not true of another one; but where Linux minds no windows, nothing is
/// invalid.
TEST_P(BridgedTcp, IsLinuxsWhereWhatIsInvalidPassesWithinAnotherBridge) {
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    must("ip link add br9 type bridge");
    open("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
         " iifname br9 oifname br9 accept; ct state established accept; tcp dport 5000 accept; }; }");
    becomesFast();
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "0");
    EXPECT_EQ(pass(0, {}), slowPath("ip-netfilter"));
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    EXPECT_EQ(pass(0, {}), fastPath());
}

TEST_P(BridgedTcp, IsNotLearntWhereWhatIsInvalidPassesWithinAnotherBridge) {
    must("ip link add br9 type bridge");
    open("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
         " iifname br9 oifname br9 accept; ct state established accept; tcp dport 5000 accept; }; }");
    for (int i = 0; i < 5; i++) {
        pump();
        EXPECT_EQ(pass(0, {.flags = psh | ack, .payload = 10}), slowPath("flow-unknown"));
        EXPECT_EQ(pass(1, {}), slowPath("flow-unknown"));
    }
}

/// Its group is another one.
TEST_P(BridgedTcp, IsLinuxsWhenTheBridgeIsAnotherOneToTheRules) {
    open(likeDocker("ip"));
    becomesFast();
    must("ip link set br0 group 5");
    EXPECT_EQ(pass(0, {}), slowPath("flow-changed"));
    EXPECT_EQ(pass(0, {}), slowPath("flow-changed"));
    becomesFast(); // when the controller has judged anew
}

/// Linux has been told not to mind its windows, and goes on so.
TEST_P(BridgedTcp, OutsideOfItsWindowsIsDroppedWhenTheRulesDropItLater) {
    open(likeDocker("ip"));
    becomesFast();
    nft("insert rule ip filter FORWARD iifname br0 oifname br0 ct state invalid drop");
    EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 1000000000})).out, Arrivals{});
    rulesAreKnown();
    EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 1000000000})).out, Arrivals{});
}

TEST_P(BridgedTcp, OfAnEndedConnectionIsLinuxs) {
    open();
    becomesFast();
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    EXPECT_EQ(pass(0, {}).fast, 0U);
}

INSTANTIATE_TEST_SUITE_P(Hooks, BridgedTcp, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Tcx" : "Xdp"; });

} // namespace
} // namespace tna::test
