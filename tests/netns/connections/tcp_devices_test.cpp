// SPDX-License-Identifier: Apache-2.0
// Rules that ask for devices: what becomes of segments that connection tracking calls invalid depends on
// those, and is known for each way.
#include "tcp_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

class TcpByDevices : public Tcp {
protected:
    static std::string byDevices(const std::string& others) {
        return "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
               " ct state established accept; " +
               others + "; }; }";
    }
    /// What no connection has, that comes by p1 with one hop left.
    void expectDroppedEarly(const std::string& forward) {
        open("table inet guard { chain before { type filter hook prerouting priority mangle;"
             " iifname p1 ct state invalid drop; }; chain forward { type filter hook forward priority 0;" +
             forward + " ct state established accept; }; }");
        becomesFast();
        EXPECT_EQ(treat(withHops(1, 1), 1).out, Arrivals{});
    }
    [[nodiscard]] Frame withHops(unsigned host, std::uint8_t hops) const {
        auto made = frame(host, invalid_[0]);
        made.bytes.at(22) = hops;
        put(made, 24, 0, 2);
        std::uint32_t sum = 0;
        for (std::size_t at = 14; at < 34; at += 2)
            sum += static_cast<std::uint32_t>(made.bytes.at(at) << 8U | made.bytes.at(at + 1));
        sum = (sum & 0xffffU) + (sum >> 16U);
        put(made, 24, ~((sum & 0xffffU) + (sum >> 16U)), 2);
        return made;
    }
    /// No connection has them.
    const std::array<Segment, 2> invalid_{Segment{.payload = 10, .ahead = 10000000},
                                          Segment{.ackAhead = 100000}};
    const std::array<Segment, 2> ending_{Segment{.flags = fin | ack, .ahead = 10000000},
                                         Segment{.flags = rst, .ahead = 10000000}};
};

/// One way they pass, the other one they are dropped.
TEST_F(TcpByDevices, IsMindedEachWayAsTheRulesSay) {
    open(byDevices("iifname p0 oifname p1 accept"));
    becomesFast();
    for (int round = 0; round < 3; round++) {
        for (const auto& segment : invalid_) {
            SCOPED_TRACE(testing::Message() << segment.ahead << ' ' << segment.ackAhead);
            expectSlow(0, segment, "flow-window");
            expectSlow(1, segment, "flow-window", false);
        }
        for (const auto& segment : ending_)
            expectSlow(1, segment, "flow-kind", false);
        EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
    // Where it may pass, it ends the connection for connection tracking.
    expectSlow(0, ending_[1], "flow-kind");
}

/// The same to Linux alone.
TEST_F(TcpByDevices, IsMindedEachWayByLinux) {
    nft(byDevices("iifname p0 oifname p1 accept"));
    shakeHands();
    for (const auto& segment : invalid_) {
        SCOPED_TRACE(testing::Message() << segment.ahead << ' ' << segment.ackAhead);
        const auto there = frame(0, segment);
        EXPECT_EQ(treat(there).out, comesOut(leaving(there, 0), 1));
        EXPECT_EQ(treat(frame(1, segment), 1).out, Arrivals{});
    }
    for (const auto& segment : ending_)
        EXPECT_EQ(treat(frame(1, segment), 1).out, Arrivals{});
    pass(0, {.payload = 10});
    const auto there = frame(0, ending_[1]);
    EXPECT_EQ(treat(there).out, comesOut(leaving(there, 0), 1));
}

/// Whatever else has changed meanwhile, and by whatever device it comes: it does not end the connection. By
/// another one than the connection's it would pass in Linux, and is dropped.
TEST_F(TcpByDevices, IsNotEndedAfterOtherThingsHaveChanged) {
    open(byDevices("iifname p0 accept; iifname p2 accept"));
    becomesFast();
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    const auto expectNotEnded = [&](const char* when) {
        SCOPED_TRACE(when);
        for (const auto& segment : ending_) {
            EXPECT_EQ(treat(frame(1, segment), 1).out, Arrivals{});
            auto another = frame(1, segment);
            std::ranges::copy(portMac(2), another.bytes.begin());
            EXPECT_EQ(treat(another, 2).out, Arrivals{});
        }
        becomesFast();
    };
    expectNotEnded("nothing");
    must("ip route add 198.51.100.0/24 via 10.0.2.2");
    expectNotEnded("a route");
    nft("add rule inet guard forward iifname p9 accept");
    rulesAreKnown();
    expectNotEnded("a rule");
    // From p0 it passes, by whatever it leaves.
    must("ip route add 198.51.101.0/24 via 10.0.2.2");
    const auto passing = frame(0, ending_[1]);
    EXPECT_EQ(treat(passing).out, comesOut(leaving(passing, 0), 1));
}

/// Nobody is told of hops or sizes where it is dropped before, whatever becomes of what comes elsewhere.
TEST_F(TcpByDevices, IsDroppedEarlyWhereRulesDropIt) {
    expectDroppedEarly("");
    expectSlow(0, invalid_[0], "flow-window");
    becomesFast();
}
TEST_F(TcpByDevices, IsDroppedEarlyWhereRulesDropItAndLateElsewhere) {
    expectDroppedEarly("ct state invalid drop;");
    expectSlow(0, invalid_[0], "flow-window", false);
    EXPECT_EQ(treat(withHops(0, 1)).out, Arrivals{}) << "nor its sender, whom Linux would have told";
    becomesFast();
}

/// What is known of others' ways says nothing of this one; and one way of a connection is not enough.
TEST_F(TcpByDevices, IsLinuxsWhereOneWayIsNotKnown) {
    open(byDevices(
        "iifname p0 oifname p1 tcp sport 4001 accept; iifname p0 oifname p1 ct state new accept;"
        " iifname p0 oifname p2 accept; iifname p2 oifname p1 accept; iifname p1 oifname p0 accept"));
    // So long it takes at most to tell connection tracking not to mind windows.
    EXPECT_FALSE(eventually([&] { return pass(0, {.payload = 10}).fast + pass(1, {}).fast != 0; },
                            std::chrono::seconds(1)));
    for (const auto& segment : invalid_) {
        EXPECT_EQ(treat(frame(0, segment)).out, Arrivals{});
        const auto back = frame(1, segment);
        EXPECT_EQ(treat(back, 1).out, comesOut(leaving(back, 1), 0));
    }
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    becomesFast();
}

} // namespace
} // namespace tna::test
