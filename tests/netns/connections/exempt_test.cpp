// SPDX-License-Identifier: Apache-2.0
// Packets that rules exempt from connection tracking (`notrack`), next to others that are tracked: flows of
// which two packets have passed are fast, for as long as the rules treat all of a flow alike.
#include "bridged_fixture.hpp"
#include "tcp_fixture.hpp"
#include "ways_fixture.hpp"

#include <string>

namespace tna::test {
namespace {

/// Linux tracks a connection of the same ends, from before the rules.
class Exempt : public ConnectionsTest {
protected:
    static constexpr const char* exempts =
        "table inet early { chain before { type filter hook prerouting priority raw;"
        " udp dport 5000 notrack; udp sport 5000 notrack; tcp dport 5000 notrack; }; };";
    static constexpr const char* accepts =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state untracked accept; ct state established,related accept; }; }";

    void begin(const std::string& guard = accepts, const std::string& early = exempts) {
        ConnectionsTest::begin(early + guard);
    }
    void learnt(const Frame& frame) {
        for (int i = 0; i < 2; i++)
            EXPECT_EQ(treat(frame).out, routedTo(frame));
        expectFast(frame);
    }
    /// At once, and when the rules are known.
    void expectDropped(const Frame& frame) {
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(treat(frame).out, Arrivals{});
        rulesAreKnown();
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(treat(frame).out, Arrivals{});
    }
    void expectSlow(const Frame& frame) {
        for (int i = 0; i < 4; i++) {
            const auto treated = treat(frame);
            EXPECT_EQ(treated.out, routedTo(frame));
            EXPECT_EQ(treated.path.fast, 0U);
        }
    }
    static Frame segment(std::uint8_t flags) {
        auto frame = RouteTest::packet({.protocol = IPPROTO_TCP, .payload = 32});
        put(frame, 34, 4000);
        put(frame, 36, 5000);
        put(frame, 46, 0x5000U | flags);
        put(frame, 48, 1000); // window
        return frame;
    }
    static Frame damaged(Frame frame) {
        frame.bytes.back() ^= 1U;
        return frame;
    }
};

TEST_F(Exempt, FlowsAreFastInEachDirection) {
    begin();
    for (int i = 0; i < 2; i++)
        expectLinux(forth(), "flow-unknown");
    for (int i = 0; i < 5; i++)
        expectFast(forth());
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(back(), 1), (Treatment{slowPath("flow-unknown"), routedTo(back(), 0)}));
    EXPECT_EQ(treat(back(), 1), (Treatment{fastPath(), routedTo(back(), 0)}));
    expectFast(damaged(forth())); // checksums are nobody's
}

TEST_F(Exempt, FlowsAreFastNextToThoseThatAreTracked) {
    const Connection other{.toPort = 6000};
    ASSERT_EQ(addConnection(other), 0);
    begin();
    learnt(forth());
    const auto tracked = forth({}, 6000);
    for (int i = 0; i < 3; i++)
        EXPECT_TRUE(eventually([&] {
            const auto treated = treat(tracked);
            EXPECT_EQ(treated.out, routedTo(tracked));
            return treated.path == fastPath() || HasFailure();
        }));
    expectLinux(damaged(tracked), "flow-checksum", false);
    expectFast(damaged(forth()));
    ASSERT_EQ(removeConnection(other), 0);
    EXPECT_EQ(treat(tracked).out, Arrivals{});
    expectFast(forth());
}

TEST_F(Exempt, FlowsAreFastWhereOthersAreNotSteady) {
    ASSERT_EQ(addConnection({.toPort = 6000}), 0);
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state untracked accept; limit rate 1000000/second accept; }; }");
    learnt(forth());
    learnt(segment(ack));
    const auto other = forth({}, 6000);
    for (int i = 0; i < 4; i++)
        expectLinux(other, "flow-unknown");
}

TEST_F(Exempt, FlowsAreLinuxsWhereTheirRulesAreNotSteady) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state established accept; limit rate 1000000/second accept; }; }");
    expectSlow(forth());
    nft("flush chain inet early before; flush chain inet guard forward;"
        " add rule inet early before ip ttl 64 notrack; add rule inet guard forward accept");
    rulesAreKnown();
    expectSlow(forth());
}

/// What connection tracking knows of a connection of the same ends does not matter.
TEST_F(Exempt, FlowsThatRulesDropAreNeverLearnt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state established,related accept; }; }");
    for (int i = 0; i < 4; i++)
        expectLinux(forth(), "flow-unknown", false);
}

TEST_F(Exempt, NothingThatHappensToConnectionsMatters) {
    begin();
    learnt(forth());
    ASSERT_EQ(markConnection(connection_, 7), 0);
    expectFast(forth());
    ASSERT_EQ(removeConnection(connection_), 0);
    expectFast(forth());
    ASSERT_EQ(addConnection(connection_), 0);
    expectFast(forth());
    EXPECT_EQ(removeConnection(connection_), 0);
    EXPECT_FALSE(timeoutOf(connection_)) << "nobody has seen its packets";
}

TEST_F(Exempt, ARuleThatForbidsHoldsForTheNextPacket) {
    begin();
    learnt(forth());
    nft("insert rule inet guard forward ct state untracked udp dport 5000 drop");
    expectDropped(forth());
}

/// Tracked, they are in another state; and exempt again.
TEST_F(Exempt, FlowsThatAreNotExemptAnyMoreAreTracked) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state untracked accept; }; }");
    learnt(forth());
    nft("flush chain inet early before");
    expectDropped(forth());
    nft("add rule inet early before udp dport 5000 notrack");
    rulesAreKnown();
    learnt(forth());
}

TEST_F(Exempt, FlowsThatWereTrackedAreNotAnyMore) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state established accept; }; }",
          "table inet early { chain before { type filter hook prerouting priority raw; }; };");
    EXPECT_EQ(treat(forth()).out, routedTo(forth()));
    expectFast(forth());
    nft("add rule inet early before udp dport 5000 notrack");
    expectDropped(forth());
    nft("add rule inet guard forward ct state untracked accept");
    rulesAreKnown();
    learnt(forth());
}

TEST_F(Exempt, SetsAreAskedForEachChange) {
    begin(accepts,
          "table inet early { set some { type inet_service; elements = { 5000 }; };"
          " chain before { type filter hook prerouting priority raw; udp dport @some notrack; }; };");
    nft("insert rule inet guard forward ct state established drop");
    rulesAreKnown();
    learnt(forth());
    nft("delete element inet early some { 5000 }");
    expectDropped(forth());
}

/// Rules see other segments than those in the middle differently, or may.
TEST_F(Exempt, OtherSegmentsAreLinuxs) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " tcp flags fin drop; ct state untracked accept; }; }");
    learnt(segment(ack));
    expectFast(segment(ack | psh));
    expectLinux(segment(syn), "flow-kind");
    expectLinux(segment(rst | ack), "flow-kind");
    expectLinux(segment(fin | ack), "flow-kind", false);
    expectFast(segment(ack));
}

/// Of TCP, it need not be known what becomes of what connection tracking calls invalid: it calls nothing so.
TEST_F(Exempt, SegmentsNeedNoWindows) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state untracked accept; ct state invalid tcp dport 80 accept; }; }");
    learnt(segment(ack));
    auto far = segment(ack);
    put(far, 38, 0x7fff);
    put(far, 42, 0x1234);
    expectFast(far);
}

/// Connection tracking gives what it calls invalid no connection either.
TEST_F(Exempt, WhatIsInvalidIsNotLearnt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state invalid,untracked accept; udp dport 5001 accept; }; }");
    for (int i = 0; i < 4; i++)
        expectLinux(damaged(forth({}, 5001)), "flow-unknown");
    learnt(forth());
}

/// It looks as if it had been exempted before it was seen.
TEST_F(Exempt, WhatIsExemptedAsInvalidIsNotLearnt) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state invalid notrack; ct state untracked accept; }; }");
    expectSlow(damaged(forth({}, 5001)));
    expectLinux(forth({}, 5001), "flow-unknown", false);
}

/// Filters may exempt packets as well, and nobody counts their changes.
TEST_F(Exempt, WhatAFilterHasExemptedIsNotLearnt) {
    const auto filter = [] {
        return command({"sh", "-c",
                        "tc qdisc add dev p0 clsact && tc filter add dev p0 ingress matchall "
                        "action ct pipe action ct clear"});
    };
    if (const auto done = filter(); done.exitCode != 0)
        GTEST_SKIP() << "needs act_ct: " << done.output;
    must("tc qdisc del dev p0 clsact");
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " ct state untracked accept; }; }",
          "table inet early { chain before { type filter hook prerouting priority raw; udp dport 6000 "
          "notrack; }; };");
    ASSERT_EQ(removeConnection(connection_), 0);
    EXPECT_EQ(treat(forth()).out, Arrivals{});
    ASSERT_EQ(filter().exitCode, 0);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(treat(forth()).out, routedTo(forth()));
    must("tc qdisc del dev p0 clsact");
    EXPECT_TRUE(eventually([&] {
        const auto treated = treat(forth());
        EXPECT_EQ(treated.out, Arrivals{});
        return treated.path == slowPath("flow-unknown") || HasFailure();
    }));
}

/// From when nothing asks for connections, what was exempted passes as all others do.
TEST_F(Exempt, FlowsAreFastWhereNobodyTracksConnections) {
    begin("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
          " udp dport { 5000, 6000 } accept; }; }");
    learnt(forth());
    learnt(forth({}, 6000));
    nft("add rule inet guard forward ct state untracked accept");
    rulesAreKnown();
    learnt(forth());
    expectSlow(forth({}, 6000));
}

TEST_F(Exempt, RulesOfIptables) {
    for (const char* rule : {"-t raw -A PREROUTING -p udp --dport 5000 -j CT --notrack",
                             "-t raw -A PREROUTING -p udp --sport 5000 -j NOTRACK",
                             "-A FORWARD -m conntrack --ctstate UNTRACKED -j ACCEPT",
                             "-A FORWARD -m state --state ESTABLISHED -j ACCEPT", "-P FORWARD DROP"})
        if (const auto done = command({"sh", "-c", std::string("iptables-nft ") + rule}); done.exitCode != 0)
            GTEST_SKIP() << done.output;
    ASSERT_EQ(addConnection(connection_), 0);
    accelerate();
    rulesAreKnown();
    learnt(forth());
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(back(), 1).out, routedTo(back(), 0));
    EXPECT_EQ(treat(back(), 1), (Treatment{fastPath(), routedTo(back(), 0)}));
    must("iptables-nft -I FORWARD -m conntrack --ctstate UNTRACKED -p udp --dport 5000 -j DROP");
    expectDropped(forth());
    must("iptables-nft -D FORWARD 1");
    must("iptables-nft -I FORWARD -m state --state ESTABLISHED -j DROP");
    rulesAreKnown();
    learnt(forth());
    must("iptables-nft -t raw -F PREROUTING");
    expectDropped(forth());
}

/// The same over IPv4 and IPv6, whichever way packets go.
template <typename Router>
class ExemptWays : public Ways<Router> {
protected:
    std::string rules() override {
        return "table inet early { chain before { type filter hook prerouting priority raw;"
               " udp dport 5000 notrack; udp sport 5000 notrack; }; };"
               " table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
               " ct state untracked accept; ct state established,related drop; }; }";
    }
};
TYPED_TEST_SUITE(ExemptWays, Routers);

TYPED_TEST(ExemptWays, AreFastFromTheThirdPacketOn) {
    this->expectFastFromTheThirdPacketOn();
    must("nft flush chain inet early before");
    EXPECT_EQ(this->treated(this->forth(), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

class ExemptBridged : public CallsRules<ConnectionsTest> {};

TEST_F(ExemptBridged, FlowsAreFastFromTheThirdPacketOn) {
    nft("table ip early { chain before { type filter hook prerouting priority raw; udp dport 5000 notrack; "
        "}; "
        "};"
        " table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state untracked accept; }; }");
    accelerate();
    rulesAreKnown();
    const auto frame = withPorts(ipv4Frame(station(2), station(1), {}), 4000, 5000);
    const Arrivals out{{1, {frame}}};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(frame), (Treatment{slowPath("flow-unknown"), out}));
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), out}));
    nft("flush chain ip early before");
    EXPECT_EQ(treat(frame).out, Arrivals{});
}

} // namespace
} // namespace tna::test
