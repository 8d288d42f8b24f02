// SPDX-License-Identifier: Apache-2.0
// What segments outside of the windows leave behind in connection tracking: as much as if it had minded them
// itself.
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

/// Once with Linux alone, once with the fast path.
class TcpInvalid : public Tcp, public ::testing::WithParamInterface<bool> {
protected:
    void begin() {
        if (GetParam())
            return open();
        nft(strict);
        shakeHands();
    }
    /// Segments of both sides, fast ones if there can be any.
    void talk() {
        if (GetParam())
            return becomesFast();
        for (const unsigned host : {0U, 1U}) {
            pass(host, {.flags = psh | ack, .payload = 50});
            pass(1 - host, {});
        }
    }
    [[nodiscard]] Arrivals sends(unsigned host, const Segment& segment) {
        return treat(frame(host, segment), host).out;
    }
    /// Linux is told how things stand.
    void settle() { controller_.reset(); }
};

/// nf_tcp_handle_invalid()
TEST_P(TcpInvalid, ThatBothSidesGiveUpIsForgottenSoon) {
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "200");
    begin();
    for (const std::uint8_t flags : {static_cast<std::uint8_t>(fin | ack), rst}) {
        talk();
        EXPECT_EQ(sends(0, {.flags = flags, .ahead = 123456789}), Arrivals{});
        EXPECT_EQ(sends(0, {.flags = flags, .ahead = 123456789}), Arrivals{});
        expectTimeout(431000, 432000);
        EXPECT_EQ(sends(1, {.flags = flags, .ahead = 123456789}), Arrivals{});
        expectTimeout(1, 200);
        talk();
        expectTimeout(431000, 432000);
    }
}

TEST_P(TcpInvalid, ThatOneSideGivesUpInSegmentsBetweenIsNot) {
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "200");
    begin();
    talk();
    EXPECT_EQ(sends(0, {.flags = fin | ack, .ahead = 123456789}), Arrivals{});
    pass(1, {.payload = 10});
    pass(0, {});
    EXPECT_EQ(sends(1, {.flags = fin | ack, .ahead = 123456789}), Arrivals{});
    settle();
    EXPECT_GT(timeout(), 400000U);
}

/// A reset is at the end of a train only if nothing else was the last segment.
TEST_P(TcpInvalid, BeforeAResetKeepsTheConnection) {
    begin();
    talk();
    pass(0, {.flags = psh | ack, .payload = 50});
    EXPECT_EQ(sends(0, {.flags = fin | ack, .ahead = 123456789}), Arrivals{});
    pass(0, {.flags = rst | ack});
    settle();
    pass(1, {});
    EXPECT_GT(timeout(), 1000U);
}

TEST_P(TcpInvalid, ThatASegmentHasFollowedIsForgottenBeforeAReset) {
    begin();
    talk();
    EXPECT_EQ(sends(0, {.flags = fin | ack, .ahead = 123456789}), Arrivals{});
    pass(0, {.flags = psh | ack, .payload = 50});
    pass(0, {.flags = rst | ack});
    expectTimeout(1, 10);
}

/// Whoever knows its ends would keep a connection, and its translation, for as long as he likes.
TEST_P(TcpInvalid, DoesNotMakeTheConnectionLiveLonger) {
    begin();
    talk();
    expectTimeout(400000, 432000 - 3); // it is idle
    for (const auto& segment : {Segment{.payload = 10, .ahead = 10000000, .options = {1, 1, 1, 1}},
                                Segment{.payload = 1, .ahead = -1000000}}) {
        const auto before = timeout();
        (void)sends(0, segment);
        settle();
        EXPECT_LE(timeout(), before);
        EXPECT_GT(timeout(), 400000U);
        if (GetParam())
            break; // there is no fast path any more
    }
}

/// What goes a little beyond the window passes; its end is what counts, also if another one's was further.
TEST_P(TcpInvalid, ThatIsOverTheWindowEndsWhereTheLastOneDoes) {
    begin();
    talk();
    const std::int64_t over = 1000 * 128 + 1;
    const auto expectKnown = [&](std::int64_t end, bool known) {
        const auto made = frame(1, {.ackAhead = end});
        EXPECT_EQ(treat(made, 1).out, known ? comesOut(made, 0) : Arrivals{}) << end;
    };
    for (const std::int64_t further : {100, 0})
        EXPECT_NE(sends(0, {.payload = 50, .ahead = over + further}), Arrivals{}) << further;
    expectKnown(over + 150, false);
    expectKnown(over + 50, true);
    (void)sends(0, {.flags = fin | ack, .ahead = 2 * over + 200}); // the window has moved on
    expectKnown(2 * over + 201, true);
}

/// Nobody knows what rules would do: more functions than one looks at.
TEST_P(TcpInvalid, DoesNotEndTheConnectionWhereRulesCannotBeRead) {
    begin();
    talk();
    for (int i = 1; i <= 16; i++)
        nft("add chain inet guard c" + std::to_string(i) + " { type filter hook forward priority " +
            std::to_string(i) + "; }");
    for (int i = 0; i < 20 && controller_; i++)
        pump();
    for (const std::uint8_t flags : {static_cast<std::uint8_t>(fin | ack), rst})
        for (const unsigned host : {0U, 1U})
            EXPECT_EQ(sends(host, {.flags = flags, .ahead = 123456789}), Arrivals{});
    pass(0, {.payload = 10});
    EXPECT_GT(timeout(), 1000U);
}

INSTANTIATE_TEST_SUITE_P(, TcpInvalid, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Fast" : "Linux"; });

} // namespace
} // namespace tna::test
