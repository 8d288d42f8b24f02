// SPDX-License-Identifier: Apache-2.0
// Packets that pass rules of bridges (family bridge): what Linux has let pass is fast for as long as all is
// the same that those rules may look at, and what they drop stays dropped.
#include "bridge_rules_fixture.hpp"

namespace tna::test {
namespace {

struct Kind {
    const char* name;
    bool six;
    bool tcp;
    bool tcx;
};
void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

class BridgeRules : public BridgeRulesTest, public ::testing::WithParamInterface<Kind> {
protected:
    void SetUp() override {
        BridgeRulesTest::SetUp();
        if (GetParam().tcx)
            config_.ports.tcxKinds = {"veth"};
    }
    [[nodiscard]] static Frame frame(Flow flow = {}) {
        flow.six = GetParam().six;
        flow.tcp = GetParam().tcp;
        return packet(flow);
    }
    [[nodiscard]] static std::string protocol() { return GetParam().tcp ? "tcp" : "udp"; }
    [[nodiscard]] static std::string ip() { return GetParam().six ? "ip6" : "ip"; }
    [[nodiscard]] static std::string sender() { return GetParam().six ? "fd00::2" : "10.0.0.2"; }
    [[nodiscard]] static std::string drops(std::uint16_t port) {
        return protocol() + " dport " + std::to_string(port) + " drop;";
    }
};

TEST_P(BridgeRules, FlowsAreFastFromTheSecondPacketOn) {
    begin(forward(drops(5001)));
    learned(frame());
    for (int i = 0; i < 10; i++)
        expect(fastPath(), frame({.payload = static_cast<std::size_t>(40 + i)}));
}

TEST_P(BridgeRules, WhatRulesDropIsNeverLearnt) {
    begin(forward(drops(5001)));
    learned(frame());
    for (int i = 0; i < 3; i++)
        expectDropped("flow-unknown", frame({.to = 5001}));
}

TEST_P(BridgeRules, ARuleThatForbidsHoldsForTheNextPacket) {
    begin(forward(drops(5001)));
    learned(frame());
    nft("insert rule bridge guard forward " + drops(5000));
    expectDropped("bridge-netfilter", frame());
    known();
    expectDropped("flow-changed", frame());
    nft("flush chain bridge guard forward");
    expect(slowPath("bridge-netfilter"), frame());
    known();
    learned(frame(), "flow-changed");
}

TEST_P(BridgeRules, HoldAtAllPlaces) {
    begin("chain before { type filter hook prerouting priority -300; " + drops(5001) + " };" +
          "chain after { type filter hook postrouting priority 300; " + drops(5002) + " };" +
          forward(drops(5003)));
    learned(frame());
    for (const auto port : std::initializer_list<std::uint16_t>{5001, 5002, 5003})
        for (int i = 0; i < 2; i++)
            expectDropped("flow-unknown", frame({.to = port}));
    nft("add rule bridge guard after " + drops(5000));
    expectDropped("bridge-netfilter", frame());
}

TEST_P(BridgeRules, ANewTableHoldsForTheNextPacket) {
    begin(forward(drops(5001)));
    learned(frame());
    nft("table bridge another { chain c { type filter hook postrouting priority 5; " + drops(5000) + " }; }");
    expectDropped("bridge-netfilter", frame());
    known();
    expectDropped("flow-changed", frame());
    nft("delete table bridge another");
    expect(slowPath("bridge-netfilter"), frame());
}

TEST_P(BridgeRules, SetsAreAskedForEachChange) {
    begin("set some { type ipv" + std::string(GetParam().six ? "6" : "4") + "_addr; };" +
          forward(ip() + " saddr @some drop;"));
    learned(frame());
    nft("add element bridge guard some { " + sender() + " }");
    expectDropped("bridge-netfilter", frame());
}

TEST_P(BridgeRules, TheMacAddressIsPartOfIt) {
    begin(forward("ether saddr " + text(station(4)) + " drop;"));
    learned(frame());
    expectDropped("flow-unknown", frame({.from = 4}));
    expect(fastPath(), frame());
    expectDropped("flow-unknown", frame({.from = 4}));
}

TEST_P(BridgeRules, TheDestinationsMacAddressIsPartOfIt) {
    must("bridge fdb replace " + text(station(5)) + " dev p1 master static");
    begin(forward("ether daddr " + text(station(5)) + " drop;"));
    learned(frame());
    auto other = frame();
    std::ranges::copy(station(5), other.bytes.begin());
    expectDropped("flow-unknown", other);
    expect(fastPath(), frame());
}

TEST_P(BridgeRules, ThePortThatItComesByIsPartOfIt) {
    begin(forward("iifname p2 drop;"));
    learned(frame());
    must("bridge fdb replace " + text(station(1)) + " dev p2 master static");
    expectDropped("flow-changed", frame(), 2);
}

TEST_P(BridgeRules, ThePortThatItLeavesByIsPartOfIt) {
    begin(forward("oifname p2 drop;"));
    learned(frame());
    must("bridge fdb replace " + text(station(2)) + " dev p2 master static");
    expectDropped("flow-changed", frame());
}

TEST_P(BridgeRules, APortThatIsRenamedOrGroupedIsAnother) {
    begin(forward("oifname other drop; oifgroup 7 drop; iifgroup 8 drop;"));
    learned(frame());
    for (const auto& [change, back] : {std::pair{"p1 name other", "other name p1"},
                                       {"p1 group 7", "p1 group 0"},
                                       {"p0 group 8", "p0 group 0"}}) {
        must(std::string("ip link set ") + change);
        EXPECT_EQ(treat(frame()).out, Arrivals{}) << change;
        must(std::string("ip link set ") + back);
        EXPECT_EQ(treat(frame()).out, (Arrivals{{1, {frame()}}})) << change;
    }
}

TEST_P(BridgeRules, OfATableThatGoesAllIsFast) {
    begin(forward(drops(5001)));
    learned(frame());
    nft("delete table bridge guard");
    EXPECT_TRUE(eventually([&] {
        pump();
        return treat(frame({.to = 5001})) == Treatment{fastPath(), {{1, {frame({.to = 5001})}}}};
    }));
}

INSTANTIATE_TEST_SUITE_P(Kinds, BridgeRules,
                         ::testing::Values(Kind{"Udp", false, false, false}, Kind{"Tcp", false, true, false},
                                           Kind{"Udp6", true, false, false}, Kind{"Tcp6", true, true, false},
                                           Kind{"UdpAtTcx", false, false, true},
                                           Kind{"TcpAtTcx", false, true, true},
                                           Kind{"Udp6AtTcx", true, false, true},
                                           Kind{"Tcp6AtTcx", true, true, true}),
                         [](const auto& kind) { return std::string(kind.param.name); });

} // namespace
} // namespace tna::test
