// SPDX-License-Identifier: Apache-2.0
// Rules exempt segments of TCP from connection tracking, and others are tracked: of the same connection,
// before or by another device, or of others.
#include "tcp_fixture.hpp"

#include <string>

namespace tna::test {
namespace {

/// A connection that was fast before rules exempted it.
class ExemptTcp : public Tcp {
protected:
    void exemptFromNowOn() {
        nft("table inet early { chain before { type filter hook prerouting priority raw;"
            " tcp dport 5000 notrack; tcp sport 5000 notrack; }; };"
            " insert rule inet guard forward ct state untracked accept");
        rulesAreKnown();
    }
    /// Far more than a window.
    void moveOn() {
        for (int i = 0; i < 300; i++) {
            const auto paths = std::array{pass(0, {.flags = psh | ack, .payload = 1000}), pass(1, {})};
            EXPECT_TRUE(i < 2 || paths == (std::array{fastPath(), fastPath()})) << i;
        }
    }
};

/// Its end does not come as far as connection tracking, which knows nothing of its windows any more.
TEST_F(ExemptTcp, EndsAsLinuxHasItEnd) {
    open();
    becomesFast();
    exemptFromNowOn();
    moveOn();
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    pass(0, {.flags = rst});
    EXPECT_TRUE(timeoutOf(connection_));
}

/// Also before anything is learnt of what is exempt, when there is a lesson of when it was tracked.
TEST_F(ExemptTcp, EndsOutsideOfTheWindowsThatWere) {
    open();
    becomesFast();
    exemptFromNowOn();
    for (const std::uint8_t flags : {static_cast<std::uint8_t>(fin | ack), rst}) {
        const auto made = frame(0, {.flags = flags, .ahead = 1000000});
        EXPECT_EQ(treat(made, 0).out, comesOut(made, 1));
    }
    EXPECT_TRUE(timeoutOf(connection_));
}

/// Rules that exempt by what all segments of a flow have in common exempt none of those that are tracked.
TEST_F(ExemptTcp, OthersAreFastBesideIt) {
    open(std::string("table inet early { chain before { type filter hook prerouting priority raw;"
                     " tcp dport 6000 notrack; tcp sport 6000 notrack; }; }; ") +
         strict);
    becomesFast();
    moveOn();
    expectSlow(0, {.payload = 10, .ahead = 1000000}, "flow-window", false);
    expectSlow(0, {.flags = rst | ack, .ahead = 1000000}, "flow-kind", false);
    EXPECT_EQ(pass(0, {.payload = 10}), fastPath());
}

/// By another device, a segment outside of the windows is none of the flow that is tracked.
TEST_F(ExemptTcp, IsNotDroppedForWindowsThatAreNotItsOwn) {
    for (const char* device : {"all", "p0", "p1", "p2"})
        sysctl(std::string{"net.ipv4.conf."} + device + ".rp_filter", "0");
    open(std::string("table inet early { chain before { type filter hook prerouting priority raw;"
                     " iifname p2 notrack; }; }; ") +
         strict);
    nft("insert rule inet guard forward ct state untracked accept");
    rulesAreKnown();
    becomesFast();
    for (const auto& segment :
         {Segment{.payload = 10, .ahead = 1000000}, Segment{.flags = rst | ack, .ahead = 1000000},
          Segment{.flags = fin | ack, .ahead = 1000000}}) {
        expectSlow(0, segment, segment.flags == ack ? "flow-window" : "flow-kind", false);
        auto made = frame(0, segment);
        std::copy_n(portMac(2).begin(), 6, made.bytes.begin());
        EXPECT_EQ(treat(made, 2), (Treatment{slowPath("flow-changed"), comesOut(made, 1)}));
    }
    EXPECT_TRUE(timeoutOf(connection_));
    becomesFast();
}

/// Connection tracking has not seen what was exempt, and calls what comes next invalid.
TEST_F(ExemptTcp, IsInvalidWhenItIsTrackedAgain) {
    open();
    becomesFast();
    exemptFromNowOn();
    moveOn();
    nft("flush chain inet early before");
    rulesAreKnown();
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treat(frame(0, {.flags = psh | ack, .payload = 1000}), 0).out, Arrivals{});
}

} // namespace
} // namespace tna::test
