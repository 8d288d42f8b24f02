// SPDX-License-Identifier: Apache-2.0
// Connections of TCP: their packets in the middle are fast, their windows are minded as by Linux, and Linux
// knows how things stand when nothing comes any more.
#include "connections_fixture.hpp"

#include "support/ipv6.hpp"

#include <algorithm>
#include <array>
#include <linux/if_ether.h>
#include <optional>

namespace tna::test {
namespace {

constexpr std::uint8_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32, ece = 64;

/// A host with a connection: where it is in its own numbers.
struct Host {
    std::uint32_t sent = 0; ///< the next one
    std::uint16_t window = 1000;
};

struct Segment {
    std::uint8_t flags = ack;
    std::size_t payload = 0;
    std::int64_t ahead = 0;    ///< of the next number
    std::int64_t ackAhead = 0; ///< of what the other one has sent
    std::optional<std::uint16_t> window{};
    std::vector<std::uint8_t> options{}; ///< a multiple of 4 bytes
    bool damaged = false;
};

const std::vector<std::uint8_t> handshakeOptions{2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0}; // SACK, scale 7

class Tcp : public ConnectionsTest {
protected:
    static constexpr const char* strict =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state invalid drop; ct state established accept; tcp dport 5000 ct state new accept; }; }";

    void SetUp() override {
        ConnectionsTest::SetUp();
        connection_.protocol = IPPROTO_TCP;
        if (IsSkipped())
            return;
        // None need be seen by Linux while a test runs.
        config_.kernel.refresh = 1U << 30U;
        sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "1000000");
    }
    void open(const std::string& rules = strict) {
        nft(rules);
        accelerate();
        if (IsSkipped())
            return;
        rulesAreKnown();
        shakeHands();
    }
    void shakeHands() {
        hosts_ = {Host{1000}, Host{900000}};
        pass(0, {.flags = syn, .options = handshakeOptions});
        pass(1, {.flags = syn | ack, .options = handshakeOptions});
        pass(0, {});
        pass(0, {.flags = psh | ack, .payload = 100});
        pass(1, {});
    }
    /// The segment as a frame; the host has not sent it yet.
    [[nodiscard]] Frame frame(unsigned host, const Segment& segment) const {
        const auto& from = hosts_.at(host);
        const auto& to = hosts_.at(1 - host);
        const std::size_t header = 20 + segment.options.size();
        Ipv4 fields{.protocol = IPPROTO_TCP, .payload = header + segment.payload};
        if (host == 1)
            std::swap(fields.from, fields.to);
        auto made = ipv4Frame(portMac(host), station(host + 1), fields);
        put(made, 34, host == 0 ? 4000 : 5000, 2);
        put(made, 36, host == 0 ? 5000 : 4000, 2);
        put(made, 38, static_cast<std::uint32_t>(from.sent + segment.ahead), 4);
        put(made, 42, (segment.flags & ack) != 0 ? static_cast<std::uint32_t>(to.sent + segment.ackAhead) : 0,
            4);
        made.bytes.at(46) = static_cast<std::uint8_t>(header / 4 << 4);
        made.bytes.at(47) = segment.flags;
        put(made, 48, segment.window.value_or(from.window), 2);
        put(made, 50, 0, 4);
        std::ranges::copy(segment.options, made.bytes.begin() + 54);
        sum(made, header + segment.payload);
        if (segment.damaged)
            made.bytes.at(53) ^= 1U;
        return made;
    }
    /// It comes out, as it would of Linux; and the host has sent it.
    Path pass(unsigned host, const Segment& segment) {
        const auto made = frame(host, segment);
        const auto got = treat(made, host);
        EXPECT_EQ(got.out, routedTo(made, 1 - host));
        hosts_.at(host).sent +=
            static_cast<std::uint32_t>(segment.payload + ((segment.flags & (syn | fin)) != 0 ? 1 : 0));
        return got.path;
    }
    /// A segment and its acknowledgement, from either side, until all four are fast.
    void becomesFast() {
        ASSERT_TRUE(eventually([&] {
            pump();
            bool fast = true;
            for (const unsigned host : {0U, 1U}) {
                fast &= pass(host, {.flags = psh | ack, .payload = 50}) == fastPath();
                fast &= pass(1 - host, {}) == fastPath();
            }
            return fast || HasFailure();
        }));
    }
    void expectSlow(unsigned host, const Segment& segment, const char* reason, bool passes = true) {
        const auto made = frame(host, segment);
        EXPECT_EQ(treat(made, host),
                  (Treatment{slowPath(reason), passes ? routedTo(made, 1 - host) : Arrivals{}}))
            << reason;
    }
    static void put(Frame& made, std::size_t at, std::uint32_t value, unsigned size) {
        for (unsigned i = 0; i < size; i++)
            made.bytes.at(at + i) = static_cast<std::uint8_t>(value >> 8U * (size - 1 - i));
    }
    static void sum(Frame& made, std::size_t length) {
        std::vector<std::uint8_t> summed(made.bytes.begin() + 26, made.bytes.begin() + 34);
        summed.insert(summed.end(), {0, IPPROTO_TCP, static_cast<std::uint8_t>(length >> 8U),
                                     static_cast<std::uint8_t>(length)});
        summed.insert(summed.end(), made.bytes.begin() + 34,
                      made.bytes.begin() + 34 + static_cast<std::ptrdiff_t>(length));
        put(made, 50, internetChecksum(summed.data(), summed.size()), 2);
    }
    std::uint32_t timeout() { return timeoutOf(connection_).value_or(0); }
    /// Until the entry has so much time left.
    void expectTimeout(std::uint32_t least, std::uint32_t most) {
        std::uint32_t left = 0;
        EXPECT_TRUE(eventually([&] {
            left = timeout();
            return left >= least && left <= most;
        })) << left;
    }

    std::array<Host, 2> hosts_{};
};

TEST_F(Tcp, IsFastInBothDirections) {
    open();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(pass(0, {.flags = psh | ack, .payload = 1000}), fastPath()) << i;
        EXPECT_EQ(pass(1, {}), fastPath()) << i;
    }
}

/// Far more than a window has passed Linux by: it must take all that comes next.
TEST_F(Tcp, GoesOnWithoutTheFastPath) {
    open();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        pass(0, {.flags = psh | ack, .payload = 1000});
        pass(1, {});
    }
    controller_.reset();
    for (int i = 0; i < 10; i++) {
        pass(0, {.flags = psh | ack, .payload = 1000});
        pass(1, {});
        pass(1, {.flags = psh | ack, .payload = 10});
        pass(0, {});
    }
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    pass(0, {});
}

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
            expectSlow(0, segment, "flow-window", false);
            expectSlow(1, segment, "flow-window", false);
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

/// Linux puts them together, minds no windows any more, and what it lets pass must be known here.
TEST_F(Tcp, WhoseSegmentComesInFragmentsGoesOn) {
    open();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
    const auto whole = frame(0, {.payload = 1000});
    constexpr std::size_t headers = 34, first = 800;
    for (const bool last : {false, true}) {
        auto part = whole;
        const auto begin = part.bytes.begin() + headers;
        if (last)
            part.bytes.erase(begin, begin + first);
        else
            part.bytes.erase(begin + first, part.bytes.end());
        put(part, 16, static_cast<std::uint32_t>(part.bytes.size() - 14), 2);
        put(part, 20, last ? first / 8 : 0x2000, 2);
        finishIpv4(part);
        EXPECT_EQ(treat(part, 0).path, slowPath("flow-kind"));
    }
    hosts_[0].sent += 1000;
    EXPECT_EQ(pass(1, {}), fastPath());
}

/// Whoever captures sees what is invalid, too.
TEST_F(Tcp, IsLinuxsOutsideOfItsWindowsWhileSomebodyCaptures) {
    open();
    becomesFast();
    const auto capturing = capture("p0", ETH_P_ALL);
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "capture");
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

TEST_F(Tcp, PassesOutsideOfItsWindowsWhereLinuxIsLiberal) {
    open();
    becomesFast();
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-state");
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
        {{.options = {1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0}}, "flow-kind"},
        {{.payload = 1, .ahead = -1000000}, "flow-state"},
    };
    for (const auto& [segment, reason] : odd) {
        SCOPED_TRACE(reason);
        if (segment.options.size() % 4 == 0)
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
    EXPECT_EQ(pass(0, {.payload = 100}), fastPath());
    std::vector<std::uint8_t> pieces{1, 1, 5, 10};
    for (const auto edge : {hosts_[0].sent - 60, hosts_[0].sent})
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            pieces.push_back(static_cast<std::uint8_t>(edge >> shift));
    EXPECT_EQ(pass(1, {.ackAhead = -100, .options = pieces}), fastPath());
    auto both = times;
    both.insert(both.end(), pieces.begin(), pieces.end());
    EXPECT_EQ(pass(1, {.ackAhead = -100, .options = both}), fastPath());
    pieces[11]++; // beyond what was ever sent
    expectSlow(1, {.ackAhead = -100, .options = pieces}, "flow-window", false);
}

TEST_F(Tcp, WhoseWindowIsShutIsLinuxs) {
    open();
    becomesFast();
    EXPECT_EQ(pass(1, {.window = 0}), slowPath("flow-kind"));
    EXPECT_EQ(pass(0, {}), slowPath("flow-state")) << "Linux knows the last window of either side only";
    EXPECT_EQ(pass(1, {}), fastPath());
}

/// While there are no rules, nobody notes what passes.
TEST_F(Tcp, IsFastAgainWhereRulesHaveGoneAndComeBack) {
    open();
    becomesFast();
    nft("flush ruleset");
    ASSERT_TRUE(eventually([&] {
        pump();
        return pass(0, {.payload = 1000}) == fastPath() && controller_->rules()["learning"]["active"] == false;
    }));
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(pass(0, {.payload = 1000}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
    nft(strict);
    rulesAreKnown();
    becomesFast();
}

/// While no rule asks for connections, Linux tracks none, and takes what comes when it does again.
TEST_F(Tcp, GoesOnWhereConnectionsWereNotTrackedForAWhile) {
    open();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
    nft("flush chain inet guard forward; add rule inet guard forward accept");
    rulesAreKnown();
    for (int i = 0; i < 300; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
    nft("flush chain inet guard forward; add rule inet guard forward ct state invalid drop;"
        " add rule inet guard forward ct state established accept");
    rulesAreKnown();
    for (int i = 0; i < 10; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
}

TEST_F(Tcp, EndsAsInLinux) {
    open();
    becomesFast();
    EXPECT_EQ(pass(0, {.flags = fin | ack}), slowPath("flow-kind"));
    EXPECT_EQ(pass(1, {}), slowPath("flow-state"));
    EXPECT_EQ(pass(1, {.flags = fin | ack}), slowPath("flow-state"));
    EXPECT_EQ(pass(0, {}), slowPath("flow-state"));
    EXPECT_LE(timeout(), 120U);
    shakeHands();
    becomesFast();
}

TEST_F(Tcp, ThatIsResetIsClosedToLinux) {
    open();
    becomesFast();
    pass(0, {.payload = 100000 % 1400});
    pass(1, {});
    pass(0, {.flags = rst | ack});
    expectTimeout(0, 10);
}

/// With segments behind what the other side has acknowledged, as those have that give up.
TEST_F(Tcp, ThatIsResetInTheMiddleOfATrainIsClosedToLinux) {
    open();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(0, {.payload = 1000});
    pass(0, {.flags = rst | ack});
    expectTimeout(0, 10);
}

/// Closing it would be too late: the same ends have another connection by now.
TEST_F(Tcp, ThatIsResetCanBeginAnewAtOnce) {
    open();
    becomesFast();
    for (int i = 0; i < 3; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
        pass(0, {.flags = rst | ack});
        shakeHands();
        becomesFast();
        EXPECT_GT(timeout(), 10U);
    }
}

TEST_F(Tcp, ThatIsIdleIsRememberedAsLongAsByLinux) {
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "300");
    open();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
    expectTimeout(431990, 432000);
    pass(0, {.payload = 10});
    expectTimeout(290, 300);
    pass(1, {});
    expectTimeout(431990, 432000);
}

} // namespace
} // namespace tna::test
