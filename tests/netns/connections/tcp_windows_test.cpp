// SPDX-License-Identifier: Apache-2.0
// Segments of TCP outside of the windows, or odd ones: minded as by Linux.
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

TEST_F(Tcp, IsDroppedOutsideOfItsWindows) {
    open();
    becomesFast();
    for (int round = 0; round < 2; round++) {
        const std::vector<Segment> invalid{
            {.payload = 10, .ahead = 10000000},
            {.ackAhead = 1},
            {.ackAhead = 100000},
            {.flags = fin | ack, .ahead = 10000000},
            {.flags = rst, .ahead = 10000000},
            {.flags = rst, .ahead = -10000},
            {.flags = rst | ack, .ahead = -10000},
            {.flags = urg | ack, .payload = 10, .ahead = 10000000},
        };
        for (const auto& segment : invalid) {
            SCOPED_TRACE(testing::Message()
                         << int{segment.flags} << ' ' << segment.ahead << ' ' << segment.ackAhead);
            const char* reason = (segment.flags & (fin | rst)) != 0 ? "flow-kind" : "flow-window";
            expectSlow(0, segment, reason, false);
            expectSlow(1, segment, reason, false);
        }
        for (int i = 0; i < 200; i++) {
            EXPECT_EQ(pass(0, {.payload = 1000}), fastPath());
            EXPECT_EQ(pass(1, {}), fastPath());
        }
    }
}

/// The same to Linux alone: what is called invalid above is so.
TEST_F(Tcp, IsDroppedByLinuxOutsideOfItsWindows) {
    nft(strict);
    shakeHands();
    for (const auto& segment : std::vector<Segment>{{.payload = 10, .ahead = 10000000},
                                                    {.ackAhead = 1},
                                                    {.flags = fin | ack, .ahead = 10000000},
                                                    {.flags = rst, .ahead = 10000000},
                                                    {.flags = rst, .ahead = -10000}})
        EXPECT_EQ(treat(frame(0, segment)).out, Arrivals{}) << segment.ahead;
    pass(0, {.payload = 10, .ahead = 0});
}

/// Two, of which the first one has so many bytes of the segment.
std::vector<Frame> inFragments(const Frame& whole, std::size_t first) {
    constexpr std::size_t headers = 34;
    std::vector<Frame> parts;
    for (const bool last : {false, true}) {
        auto part = whole;
        const auto begin = part.bytes.begin() + headers;
        if (last)
            part.bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(first));
        else
            part.bytes.erase(begin + static_cast<std::ptrdiff_t>(first), part.bytes.end());
        const auto length = part.bytes.size() - 14, place = last ? first / 8 : 0x2000;
        for (const auto& [at, value] : {std::pair{16U, length}, {20U, place}}) {
            part.bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
            part.bytes.at(at + 1) = static_cast<std::uint8_t>(value);
        }
        finishIpv4(part);
        parts.push_back(std::move(part));
    }
    return parts;
}

/// Linux puts them together, minds no windows any more, and what it lets pass must be known here.
TEST_F(Tcp, WhoseSegmentComesInFragmentsGoesOn) {
    open();
    becomesFast();
    sendMuch();
    for (const auto& part : inFragments(frame(0, {.payload = 1000}), 800))
        EXPECT_EQ(treat(part, 0).path, slowPath("flow-kind"));
    hosts_[0].sent += 1000;
    EXPECT_EQ(pass(1, {}), fastPath());
}

/// Of which the first fragment has the ports and the number only.
TEST_F(Tcp, WhoseHeaderComesInFragmentsIsJudged) {
    open();
    becomesFast();
    for (const auto& part : inFragments(frame(0, {.payload = 100}), 8))
        (void)treat(part, 0);
    hosts_[0].sent += 100;
    EXPECT_EQ(pass(1, {}), fastPath()) << "it was within the windows";
    for (const auto& part : inFragments(frame(0, {.payload = 100, .ahead = 1 << 29}), 8))
        EXPECT_EQ(treat(part, 0).out, Arrivals{});
    expectSlow(0, {.payload = 10, .ahead = 1 << 29}, "flow-window", false);
    EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
}

/// Whoever knows its ends can send that. Connection tracking ignores the SYN, and would have called the rest
/// invalid.
TEST_F(Tcp, IsNotEndedByWhatIsOutsideOfItsWindows) {
    open();
    for (const std::uint8_t flags :
         {rst, static_cast<std::uint8_t>(rst | ack), fin, static_cast<std::uint8_t>(fin | ack)})
        for (const unsigned host : {0U, 1U}) {
            SCOPED_TRACE(testing::Message() << "flags " << int{flags} << " from host " << host);
            becomesFast();
            const auto spoofed = frame(host, {.flags = flags, .ahead = 123456789});
            const auto late = frame(host, {.flags = flags, .ahead = -123456789});
            for (int i = 0; i < 2; i++)
                (void)treat(frame(0, {.flags = syn, .ahead = 987654321, .options = handshakeOptions}), 0);
            EXPECT_EQ(treat(spoofed, host).out, Arrivals{});
            EXPECT_EQ(treat(late, host).out, Arrivals{});
            EXPECT_GT(timeout(), 1000U);
            for (const auto& part : inFragments(spoofed, 8))
                EXPECT_EQ(treat(part, host).out, Arrivals{});
            EXPECT_GT(timeout(), 1000U);
        }
}

/// The server does not know it any more, and says so when its client begins again by the same ports.
TEST_F(Tcp, IsEndedByTheAnswerToAnotherHandshake) {
    const auto refused = [&] {
        hosts_ = {Host{7000000}, Host{0}};
        pass(0, {.flags = syn, .options = handshakeOptions});
        pass(1, {.flags = rst | ack});
        expectTimeout(1, 10);
    };
    nft(strict);
    shakeHands();
    refused();
    ASSERT_EQ(removeConnection(connection_), 0);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    shakeHands();
    becomesFast();
    refused();
}

/// It is none of the connection's for Linux, so its numbers are not noted either.
TEST_F(Tcp, OfAnotherStationChangesNothing) {
    open();
    becomesFast();
    auto other = frame(0, {.payload = 1000});
    other.bytes.at(5) ^= 0x77U;
    EXPECT_EQ(treat(other, 0), (Treatment{slowPath("other-station"), {}}));
    sendMuch();
    other = frame(0, {.payload = 1000});
    other.bytes.at(5) ^= 0x77U;
    EXPECT_EQ(treat(other, 0), (Treatment{slowPath("other-station"), {}}));
    expectSlow(1, {.ackAhead = 1000}, "flow-window", false);
}

/// Whoever captures sees what is invalid, too.
TEST_F(Tcp, IsLinuxsOutsideOfItsWindowsWhileSomebodyCaptures) {
    open();
    becomesFast();
    const auto capturing = capture("p0", ETH_P_ALL);
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "capture", false);
}

TEST_F(Tcp, IsLinuxsOutsideOfItsWindowsWhereRulesLetThatPass) {
    open("table inet guard { chain forward { type filter hook forward priority 0; policy accept;"
         " ct state established accept; }; }");
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-window");
}

TEST_F(Tcp, IsLinuxsWhereWhatIsInvalidMayPass) {
    open("table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
         " ct state established accept; ct state invalid tcp sport 4001 accept;"
         " tcp dport 5000 ct state new accept; }; }");
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(pass(0, {.payload = 10}), slowPath("ip-netfilter"));
        EXPECT_EQ(pass(1, {}), slowPath("ip-netfilter"));
    }
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    becomesFast();
}

/// An answer to nothing: Linux ignores it, and minds windows as before.
TEST_F(Tcp, IsDroppedOutsideOfItsWindowsAfterASpoofedHandshake) {
    open();
    becomesFast();
    expectSlow(1, {.flags = syn | ack, .ahead = 5000000}, "flow-kind");
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-window", false);
}

/// Linux does not mind windows any more, for whatever reason a segment is its own: the function behind the
/// rules drops what they would have dropped.
TEST_F(Tcp, IsDroppedOutsideOfItsWindowsByWhateverWay) {
    open();
    becomesFast();
    const auto expectWindowsMinded = [&](const char* when) {
        SCOPED_TRACE(when);
        EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 10000000})).out, Arrivals{});
        EXPECT_EQ(treat(frame(1, {.payload = 10, .ahead = 10000000}), 1).out, Arrivals{});
        EXPECT_EQ(treat(frame(1, {.ackAhead = 10000000}), 1).out, Arrivals{});
        EXPECT_EQ(treat(frame(0, {.payload = 10, .ahead = 10000000, .options = {1, 1, 1, 1}})).out,
                  Arrivals{});
        pass(0, {.payload = 10});
        pass(1, {.payload = 10, .options = {1, 1, 1, 1}});
    };
    expectWindowsMinded("fast");
    nft("insert rule inet guard forward ip saddr 10.0.0.0/8 limit rate 100000/second counter");
    rulesAreKnown();
    expectWindowsMinded("rules are not steady");
    pass(0, {.flags = fin | ack});
    pass(1, {});
    hosts_.at(0).window = 0; // it says nothing new
    EXPECT_EQ(treat(frame(1, {.payload = 10, .ahead = 10000000}), 1).out, Arrivals{});
    EXPECT_EQ(treat(frame(0, {.ackAhead = 10000000, .window = 1000})).out, Arrivals{});
    pass(1, {.payload = 10});
}

/// Connection tracking sees segments before rules of pre-routing drop them, and nobody else does: here, one
/// that tells of a larger window, and acknowledges what it has seen.
TEST_F(Tcp, IsFastAgainAfterRulesHaveDroppedSegments) {
    open();
    const std::int64_t seen = hosts_.at(0).sent;
    becomesFast();
    nft("add table inet early; add chain inet early c { type filter hook prerouting priority -150; };"
        " add rule inet early c tcp sport 5000 drop");
    rulesAreKnown();
    const auto behind = seen - hosts_.at(0).sent;
    EXPECT_EQ(treat(frame(1, {.ackAhead = behind, .window = 60000}), 1).out, Arrivals{});
    nft("delete table inet early");
    rulesAreKnown();
    hosts_.at(0).sent += 1000000;
    becomesFast();
}

/// Its ends have agreed on other numbers, while Linux was still told not to mind the old ones.
TEST_F(Tcp, MindsTheWindowsOfBothSidesAfterAnotherHandshake) {
    open();
    becomesFast();
    hosts_ = {Host{5000000}, Host{90000000}};
    pass(0, {.flags = syn, .options = handshakeOptions});
    pass(1, {.flags = syn | ack, .options = handshakeOptions});
    pass(0, {});
    pass(0, {.flags = psh | ack, .payload = 100});
    pass(1, {.flags = psh | ack, .payload = 100});
    becomesFast();
    for (const unsigned host : {0U, 1U})
        EXPECT_EQ(treat(frame(host, {.payload = 10, .ahead = 10000000}), host).out, Arrivals{}) << host;
}

/// One port is left meanwhile, between which and another one nothing is learnt.
TEST_F(Tcp, IsDroppedOutsideOfItsWindowsAfterPortsWereAway) {
    open();
    becomesFast();
    for (const bool paused : {true, false})
        for (const char* port : {"p1", "p2"})
            ASSERT_TRUE(controller_->pause(port, paused));
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-window", false);
}

/// Linux allows for as much more as it has let pass beyond the window; that it has seen a segment, too, must
/// not count twice, or data is known that Linux does not know. Urgent segments are slow.
TEST_F(Tcp, WhoseSegmentsAreLargerThanWindowsIsKnownAsInLinux) {
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    nft(strict);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    hosts_ = {Host{1000}, Host{900000}}; // whose windows of 1000 bytes are not scaled
    pass(0, {.flags = syn});
    pass(1, {.flags = syn | ack});
    pass(0, {});
    pass(0, {.flags = psh | ack, .payload = 100});
    pass(1, {});
    ASSERT_TRUE(eventually([&] {
        pump();
        return isLiberal(connection_);
    }));
    pass(0, {.flags = urg | ack, .payload = 600});
    pass(0, {.flags = urg | ack, .payload = 900});  // 500 beyond
    pass(0, {.flags = urg | ack, .payload = 1300}); // more beyond than the 1500 that Linux allows for now
    pass(1, {.flags = urg | ack, .payload = 10});   // acknowledges what Linux has taken no notice of
    pass(0, {.flags = urg | ack});
    pass(1, {.flags = rst}); // not at what Linux knows to be acknowledged
    controller_.reset();     // tells Linux how things stand
    pass(0, {});
    EXPECT_GT(timeout(), 1000U);
}

TEST_F(Tcp, PassesOutsideOfItsWindowsWhereLinuxIsLiberal) {
    open();
    becomesFast();
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    expectSlow(0, {.flags = rst, .ahead = -10000}, "flow-kind", false);
    // What is beyond the windows passes, but nothing follows from it.
    for (const std::int64_t ahead : {10000000, 10000000, 20000000}) {
        const auto made = frame(0, {.payload = 10, .ahead = ahead});
        EXPECT_EQ(treat(made), (Treatment{fastPath(), routedTo(made)}));
    }
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "0");
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-window", false);
}

TEST_F(Tcp, OddSegmentsAreLinuxs) {
    open();
    becomesFast();
    const std::vector<std::pair<Segment, const char*>> odd{
        {{.flags = urg | ack}, "flow-kind"},
        {{.flags = ece | ack}, "flow-kind"},
        {{.options = {1, 1, 1, 1}}, "flow-kind"},
        {{.options = {1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, "flow-kind"},
        {{.payload = 1, .ahead = -1000000}, "flow-state"},
    };
    for (const auto& [segment, reason] : odd) {
        SCOPED_TRACE(reason);
        expectSlow(0, segment, reason);
        EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
    expectSlow(0, {.payload = 10, .damaged = true}, "flow-checksum", false);
    // A little too much passes.
    expectSlow(0, {.payload = 10, .ahead = 1000 * 128 + 1}, "flow-state");
}

TEST_F(Tcp, WithTimesAndPiecesIsFast) {
    open();
    becomesFast();
    const std::vector<std::uint8_t> times{1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(pass(0, {.payload = 100, .options = times}), fastPath());
    EXPECT_EQ(pass(1, {.options = times}), fastPath());
    // What host 0 has sent lies from `sent` - 100 on; the first 40 bytes are acknowledged last.
    const auto pieces = [](std::uint32_t from, std::uint32_t to) {
        std::vector<std::uint8_t> options{1, 1, 5, 10};
        for (const auto edge : {from, to})
            for (const unsigned shift : {24U, 16U, 8U, 0U})
                options.push_back(static_cast<std::uint8_t>(edge >> shift));
        return options;
    };
    EXPECT_EQ(pass(0, {.payload = 100}), fastPath());
    const auto sent = hosts_[0].sent;
    const auto had = pieces(sent - 60, sent);
    EXPECT_EQ(pass(1, {.ackAhead = -100, .options = had}), fastPath());
    auto both = times;
    both.insert(both.end(), had.begin(), had.end());
    EXPECT_EQ(pass(1, {.ackAhead = -100, .options = both}), fastPath());
    // Beyond what was ever sent.
    expectSlow(1, {.ackAhead = -100, .options = pieces(sent - 60, sent + 1)}, "flow-window", false);
}

TEST_F(Tcp, WhoseWindowIsShutIsLinuxs) {
    open();
    becomesFast();
    EXPECT_EQ(pass(1, {.window = 0}), slowPath("flow-kind"));
    EXPECT_EQ(pass(0, {}), slowPath("flow-state")) << "Linux knows the last window of either side only";
    EXPECT_EQ(pass(1, {}), fastPath());
}

} // namespace
} // namespace tna::test
