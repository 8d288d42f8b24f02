// SPDX-License-Identifier: Apache-2.0
// Connections of TCP: their packets in the middle are fast, and Linux knows how things stand when nothing
// comes any more.
#include "tcp_fixture.hpp"

#include <poll.h>

namespace tna::test {
namespace {

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

/// While there are no rules, nobody notes what passes.
TEST_F(Tcp, IsFastAgainWhereRulesHaveGoneAndComeBack) {
    open();
    becomesFast();
    nft("flush ruleset");
    ASSERT_TRUE(eventually([&] {
        pump();
        return pass(0, {.payload = 1000}) == fastPath() &&
               controller_->rules()["learning"]["active"] == false;
    }));
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(pass(0, {.payload = 1000}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
    nft(strict);
    rulesAreKnown();
    becomesFast();
}

/// Where it tracks none meanwhile, Linux forgets their windows, and minds those that it sees then.
class RulesThatComeBack : public Tcp, public testing::WithParamInterface<bool> {};

TEST_P(RulesThatComeBack, WindowsAreMinded) {
    open();
    becomesFast();
    nft("flush ruleset");
    ASSERT_TRUE(eventually([&] {
        pump();
        return pass(0, {.payload = 1000}) == fastPath() && pass(1, {}) == fastPath() &&
               controller_->rules()["learning"]["active"] == false;
    }));
    nft(strict);
    if (GetParam()) { // before anybody knows of them
        pass(0, {.payload = 1000});
        pass(1, {.payload = 1000});
        pass(0, {});
    }
    rulesAreKnown();
    becomesFast();
    for (const unsigned host : {0U, 1U})
        expectSlow(host, {.payload = 100, .ahead = 1000000}, "flow-window", false);
    becomesFast();
}
INSTANTIATE_TEST_SUITE_P(Segments, RulesThatComeBack, testing::Bool(),
                         [](const auto& comes) { return comes.param ? "ComeBefore" : "ComeAfterwards"; });

/// Rules of bridges have Linux track connections while there are no others, and it has not seen what was
/// fast.
class LeftTcp : public Tcp {
protected:
    void leave() {
        open();
        nft("table inet other { chain unused { ct state established accept; }; }");
        rulesAreKnown();
        becomesFast();
        sendMuch();
        nft("delete table inet guard");
        ASSERT_TRUE(eventually([&] {
            pump();
            return controller_->rules()["learning"]["active"] == false;
        }));
        hosts_[0].sent += 100'000'000; // farther than any window
        pass(0, {.payload = 1000});
        pass(1, {});
        nft(strict);
        rulesAreKnown();
    }
};

TEST_F(LeftTcp, GoesOn) {
    leave();
    for (int i = 0; i < 10; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
    becomesFast();
    pass(0, {.payload = 1000, .ahead = 1000});
}

TEST_F(LeftTcp, Ends) {
    leave();
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    pass(0, {});
}

/// While no rule asks for connections, Linux tracks none, and takes what comes when it does again.
TEST_F(Tcp, GoesOnWhereConnectionsWereNotTrackedForAWhile) {
    open();
    becomesFast();
    sendMuch();
    nft("flush chain inet guard forward; add rule inet guard forward accept");
    rulesAreKnown();
    sendMuch();
    nft("flush chain inet guard forward; add rule inet guard forward ct state invalid drop;"
        " add rule inet guard forward ct state established accept");
    rulesAreKnown();
    for (int i = 0; i < 10; i++) {
        pass(0, {.payload = 1000});
        pass(1, {});
    }
}

/// More than half of all numbers have passed: what is known of its windows says nothing of those of now.
TEST_F(Tcp, EndsWhereMuchWasNotTracked) {
    open();
    becomesFast();
    nft("flush chain inet guard forward; add rule inet guard forward accept");
    rulesAreKnown();
    hosts_[0].sent += 0x90000000;
    pass(0, {.payload = 1000});
    pass(1, {});
    nft("flush chain inet guard forward; add rule inet guard forward ct state invalid drop;"
        " add rule inet guard forward ct state established accept");
    rulesAreKnown();
    for (int i = 0; i < 3; i++) {
        pass(0, {.payload = 1000});
        pass(1, {.payload = 10});
    }
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    pass(0, {});
    EXPECT_LE(timeout(), 120U);
}

TEST_F(Tcp, EndsAsInLinux) {
    open();
    becomesFast();
    EXPECT_EQ(pass(0, {.flags = fin | ack}), slowPath("flow-kind"));
    EXPECT_EQ(pass(1, {}), slowPath("flow-state"));
    EXPECT_EQ(pass(1, {.flags = fin | ack}), slowPath("flow-state"));
    EXPECT_EQ(pass(0, {}), slowPath("flow-state"));
    EXPECT_LE(timeout(), 120U);
    // Whoever tells Linux about idle connections has nothing to say of this one.
    for (int i = 0; i < 25; i++) {
        ::poll(nullptr, 0, 100);
        ASSERT_LE(timeout(), 120U);
    }
    shakeHands();
    becomesFast();
}

TEST_F(Tcp, ThatIsResetIsClosedToLinux) {
    open();
    becomesFast();
    pass(0, {.payload = 100000 % 1400});
    pass(1, {});
    pass(0, {.flags = rst | ack});
    expectTimeout(1, 10);
}

/// Connection tracking has seen it before the rules have.
TEST_F(Tcp, ThatIsResetByWhatRulesDropIsClosedToLinux) {
    open();
    nft("insert rule inet guard forward tcp flags & rst == rst drop");
    rulesAreKnown();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(1, {});
    EXPECT_EQ(treat(frame(0, {.flags = rst | ack})).out, Arrivals{});
    expectTimeout(1, 10);
}

/// Of what rules drop, connection tracking has seen numbers that a reset begins with.
TEST_F(Tcp, ThatIsResetBehindWhatRulesDropIsClosedToLinux) {
    open();
    nft("insert rule inet guard forward tcp flags & urg == urg drop");
    rulesAreKnown();
    becomesFast();
    pass(1, {});
    EXPECT_EQ(treat(frame(0, {.flags = urg | ack, .payload = 10})).out, Arrivals{});
    hosts_[0].sent += 10;
    pass(0, {.flags = rst | ack});
    expectTimeout(1, 10);
}

/// With segments behind what the other side has acknowledged, as those have that give up.
TEST_F(Tcp, ThatIsResetInTheMiddleOfATrainIsClosedToLinux) {
    open();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(0, {.payload = 1000});
    pass(0, {.flags = rst | ack});
    expectTimeout(1, 10);
}

/// Linux has not seen its handshake, and takes it as it comes.
TEST_F(Tcp, ThatWasPickedUpAndIsResetIsClosedToLinux) {
    open();
    hosts_ = {Host{7000000}, Host{8000000}};
    nft("add rule inet guard forward tcp sport 5000 accept");
    rulesAreKnown();
    ASSERT_EQ(removeConnection(connection_), 0);
    pass(0, {.payload = 10});
    pass(1, {});
    becomesFast();
    pass(0, {.payload = 1000});
    pass(0, {.payload = 1000});
    // Whether it minds windows or not, Linux believes no reset behind what was acknowledged.
    EXPECT_EQ(treat(frame(1, {.flags = rst, .ahead = -40}), 1).out, Arrivals{});
    pass(0, {.flags = rst | ack});
    expectTimeout(1, 10);
}

/// Linux takes no notice of that answer's numbers, but does not take a reset for the end of the train before
/// it either.
TEST_F(Tcp, ThatIsResetBehindAnAnswerOutOfTurnIsNotClosed) {
    open();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(1, {.flags = syn | ack});
    pass(0, {.flags = rst});
    controller_.reset(); // tells Linux how things stand
    pass(0, {.ackAhead = -1});
    EXPECT_GT(timeout(), 1000U);
}

/// How long after a reset that does not end it is for the kernel to say: some say as for unacknowledged data,
/// others as for what is closed.
TEST_F(Tcp, LivesAfterAResetAsLongAsLinuxSays) {
    constexpr std::uint32_t closed = 5000, unacknowledged = 20000;
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_close", std::to_string(closed));
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", std::to_string(unacknowledged));
    open();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(1, {});
    pass(0, {.flags = rst, .ahead = 5});
    const auto left = timeout();
    EXPECT_LE(left, unacknowledged);
    controller_.reset(); // tells Linux how things stand
    EXPECT_LE(timeout(), left);
    EXPECT_GT(timeout(), left - 1000);
}

/// Where Linux has given it more time for something else, it is shortened when nothing has come for a second.
TEST_F(Tcp, LivesAfterAResetNoLongerThanItMay) {
    constexpr std::uint32_t most = 1000;
    const auto say = [](const std::string& seconds) {
        for (const std::string name : {"close", "unacknowledged"})
            sysctl("net.netfilter.nf_conntrack_tcp_timeout_" + name, seconds);
    };
    open();
    becomesFast();
    const auto isShortened = [&] {
        say("20000");
        pass(0, {.payload = 1000});
        pass(1, {});
        pass(0, {.flags = rst, .ahead = 5});
        EXPECT_GT(timeout(), most);
        say(std::to_string(most));
        return eventually([&] { return timeout() <= most; });
    };
    EXPECT_TRUE(isShortened() || isShortened()); // once more if that second was over too soon
}

/// The first one is at no number that Linux knows, the second one behind it.
TEST_F(Tcp, ThatIsResetBehindAnotherResetIsNotClosed) {
    open();
    becomesFast();
    pass(0, {.payload = 1000});
    pass(0, {.flags = rst, .ahead = 5});
    pass(0, {.flags = rst});
    controller_.reset(); // tells Linux how things stand
    pass(0, {});
    EXPECT_GT(timeout(), 1000U);
}

/// Nothing of it can be fast: Linux is to mind its windows as ever.
TEST_F(Tcp, ThatLeavesByAPortThatIsLinuxsIsNotLearnt) {
    nft(strict);
    accelerate();
    if (IsSkipped())
        return;
    rulesAreKnown();
    ASSERT_TRUE(controller_->pause("p1", true));
    shakeHands();
    for (int i = 0; i < 4; i++) {
        pass(0, {.flags = psh | ack, .payload = 50});
        pass(1, {});
    }
    EXPECT_EQ(controller_->rules()["learning"]["active"], true);
    ASSERT_TRUE(controller_->pause("p1", false));
    EXPECT_EQ(pass(0, {.flags = psh | ack, .payload = 50}), slowPath("flow-unknown"));
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

/// With data under way when the fast path goes: later, Linux does not see by itself that it is acknowledged.
TEST_F(Tcp, IsRememberedWhenTheFastPathGoes) {
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "300");
    open();
    for (int i = 0; i < 300; i++)
        pass(0, {.payload = 10});
    becomesFast();
    sendMuch();
    controller_.reset();
    EXPECT_GT(timeout(), 431990U);
    pass(0, {});
    EXPECT_GT(timeout(), 431990U);
}

/// What was known of them is lost: nobody minds their windows any more.
TEST_F(Tcp, IsFastAgainWithAnotherFastPath) {
    open();
    becomesFast();
    sendMuch();
    controller_.reset();
    accelerate();
    rulesAreKnown();
    becomesFast();
    for (int i = 0; i < 300; i++) {
        EXPECT_EQ(pass(0, {.payload = 1000}), fastPath());
        EXPECT_EQ(pass(1, {}), fastPath());
    }
}

TEST_F(Tcp, ThatIsIdleIsRememberedAsLongAsByLinux) {
    sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "300");
    open();
    becomesFast();
    sendMuch();
    expectTimeout(431990, 432000);
    pass(0, {.payload = 10});
    expectTimeout(290, 300);
    pass(1, {});
    expectTimeout(431990, 432000);
}

} // namespace
} // namespace tna::test
