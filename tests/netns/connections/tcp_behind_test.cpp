// SPDX-License-Identifier: Apache-2.0
// Segments of TCP outside of the windows, where what Linux knows of these is behind what has passed, or is
// its own.
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

/// Half of all numbers away from its windows, which Linux knows as they were a while ago.
TEST_F(Tcp, IsDroppedOutsideOfItsWindowsHoweverFar) {
    open();
    becomesFast();
    constexpr std::int64_t half = std::int64_t{1} << 31U;
    for (const unsigned host : {0U, 1U}) {
        expectSlow(host, {.payload = 10, .ackAhead = half}, "flow-window", false);
        expectSlow(host, {.payload = 10, .ahead = half + 1000 * 128 - 20}, "flow-window", false);
    }
}

/// A segment whose header the fast path does not look at.
Frame withIpOptions(Frame made) {
    made.bytes.insert(made.bytes.begin() + 34, 4, 1);
    made.bytes[14] = 0x46;
    made.bytes[17] = static_cast<std::uint8_t>(made.bytes[17] + 4);
    made.bytes[24] = made.bytes[25] = 0;
    const auto sum = internetChecksum(made.bytes.data() + 14, 24);
    made.bytes[24] = static_cast<std::uint8_t>(sum >> 8U);
    made.bytes[25] = static_cast<std::uint8_t>(sum);
    return made;
}

/// As far as Linux knows, which has not seen what was fast, they are right.
TEST_F(Tcp, IsDroppedOutsideOfItsWindowsHoweverFarAlsoBehindRules) {
    open();
    becomesFast();
    for (const unsigned host : {0U, 1U}) {
        EXPECT_GT(pass(host, {.payload = 100}).fast, 0U);
        const auto inside = withIpOptions(frame(1 - host, {}));
        EXPECT_EQ(treat(inside, 1 - host).out, comesOut(inside, host));
        const auto far = withIpOptions(frame(1 - host, {.ackAhead = std::int64_t{1} << 31U}));
        EXPECT_EQ(treat(far, 1 - host).out, Arrivals{});
    }
}

/// Before they are known here again, too: for the side that has answered, Linux is still told not to mind
/// them.
TEST_F(Tcp, MindsTheWindowsOfBothSidesFromAnotherHandshakeOn) {
    open();
    becomesFast();
    hosts_ = {Host{5000000}, Host{90000000}};
    pass(0, {.flags = syn, .options = handshakeOptions});
    pass(1, {.flags = syn | ack, .options = handshakeOptions});
    EXPECT_EQ(treat(frame(1, {.payload = 10, .ackAhead = 10000000}), 1).out, Arrivals{});
    for (const std::uint8_t flags : {rst, static_cast<std::uint8_t>(fin | ack)})
        EXPECT_EQ(treat(frame(1, {.flags = flags, .ahead = 10000000}), 1).out, Arrivals{}) << int{flags};
    pass(0, {});
    for (const unsigned host : {0U, 1U}) {
        EXPECT_EQ(treat(frame(host, {.payload = 10, .ahead = 10000000}), host).out, Arrivals{});
        EXPECT_EQ(treat(frame(host, {.payload = 10, .ackAhead = 10000000}), host).out, Arrivals{});
        for (const std::uint8_t flags : {rst, static_cast<std::uint8_t>(fin | ack)})
            EXPECT_EQ(treat(frame(host, {.flags = flags, .ahead = 10000000}), host).out, Arrivals{})
                << int{flags};
    }
    EXPECT_GT(timeout(), 1000U);
    pass(1, {.flags = psh | ack, .payload = 100});
    pass(0, {.flags = psh | ack, .payload = 100});
    becomesFast();
}

/// A SYN when one side has ended is ignored by Linux, whose own windows are far behind by then.
TEST_F(Tcp, WithOneEndGoesOnAfterASpoofedHandshake) {
    const auto goesOn = [&](std::uint8_t flags, unsigned host) {
        SCOPED_TRACE(testing::Message() << "flags " << int{flags} << " from host " << host);
        pass(0, {.flags = fin | ack});
        pass(1, {});
        (void)treat(frame(host, {.flags = flags, .ahead = 987654321, .options = handshakeOptions}), host);
        for (int i = 0; i < 3; i++) {
            pass(1, {.flags = psh | ack, .payload = 1000});
            pass(0, {});
        }
        EXPECT_EQ(treat(frame(1, {.payload = 10, .ahead = 10000000}), 1).out, Arrivals{});
        EXPECT_EQ(treat(frame(0, {.ackAhead = 10000000}), 0).out, Arrivals{});
    };
    nft(strict);
    shakeHands();
    goesOn(syn, 0);
    ASSERT_EQ(removeConnection(connection_), 0);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    const auto both = static_cast<std::uint8_t>(syn | ack);
    for (const auto& [flags, host] : {std::pair{syn, 0U}, std::pair{both, 1U}}) {
        shakeHands();
        becomesFast();
        for (int i = 0; i < 300; i++) {
            pass(1, {.payload = 1000});
            pass(0, {});
        }
        goesOn(flags, host);
        ASSERT_EQ(removeConnection(connection_), 0);
    }
}

/// What it has been told to wait for is the rest of what the other one sends.
TEST_F(Tcp, WithOneEndIsNotEndedByWhatIsOutsideOfItsWindows) {
    constexpr std::uint32_t closeWait = 20000, lastAck = 5000;
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_close_wait", std::to_string(closeWait));
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_last_ack", std::to_string(lastAck));
    const auto goesOn = [&] {
        pass(0, {.flags = fin | ack});
        pass(1, {});
        EXPECT_GT(timeout(), lastAck);
        EXPECT_EQ(treat(frame(1, {.flags = fin | ack, .ahead = 10000000}), 1).out, Arrivals{});
        EXPECT_GT(timeout(), lastAck);
        pass(1, {.flags = psh | ack, .payload = 100});
        pass(0, {});
        pass(1, {.flags = fin | ack});
        EXPECT_LE(timeout(), lastAck);
        EXPECT_GT(timeout(), 1000U);
        pass(0, {});
        ASSERT_EQ(removeConnection(connection_), 0);
    };
    nft(strict);
    shakeHands();
    goesOn();
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    shakeHands();
    becomesFast();
    goesOn();
}

} // namespace
} // namespace tna::test
