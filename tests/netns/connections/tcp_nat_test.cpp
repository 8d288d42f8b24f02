// SPDX-License-Identifier: Apache-2.0
// Connections of TCP whose addresses and ports are translated.
#include "tcp_fixture.hpp"

namespace tna::test {
namespace {

/// Which all packets meet before anybody asks where they are to go.
constexpr const char* early =
    " chain early { type filter hook prerouting priority -150; ct state invalid drop; };";

/// The service 10.0.9.9:80 is at 10.0.1.2:5000, and sees the router as client.
class TranslatedTcp : public Tcp {
protected:
    static std::string translating(const std::string& more = early) {
        return "table ip guard {" + more +
               " chain forward { type filter hook forward priority 0; policy drop;"
               " ct state invalid drop; ct state established accept; tcp dport 5000 ct state new accept; };"
               " chain before { type nat hook prerouting priority -100; ip daddr 10.0.9.9 tcp dport 80"
               " dnat to 10.0.1.2:5000; };"
               " chain after { type nat hook postrouting priority 100; oif p1 meta l4proto tcp"
               " snat to 10.0.1.9:4001; }; }";
    }

    [[nodiscard]] Connection ends(unsigned host) const override {
        if (host == 0)
            return {.to = "10.0.9.9", .toPort = 80, .protocol = IPPROTO_TCP};
        return {
            .from = "10.0.1.2", .fromPort = 5000, .to = "10.0.1.9", .toPort = 4001, .protocol = IPPROTO_TCP};
    }
    [[nodiscard]] Frame leaving(const Frame& made, unsigned host) const override {
        auto left = made;
        put(left, 26, host == 0 ? 0x0a000109 : 0x0a000909, 4);
        put(left, 30, host == 0 ? 0x0a000102 : 0x0a000002, 4);
        put(left, 34, host == 0 ? 4001 : 80, 2);
        put(left, 36, host == 0 ? 5000 : 4000, 2);
        put(left, 50, 0, 2);
        const std::size_t total = left.bytes.at(16) << 8U | left.bytes.at(17);
        sum(left, total - 20);
        finishIpv4(left);
        return left;
    }
};

TEST_F(TranslatedTcp, IsFastBothWays) {
    open(translating());
    becomesFast();
    for (const std::size_t payload : {0U, 1U, 6U, 100U, 1400U})
        for (const unsigned host : {0U, 1U}) {
            EXPECT_EQ(pass(host, {.flags = psh | ack, .payload = payload}), fastPath());
            EXPECT_EQ(pass(1 - host, {}), fastPath());
        }
}

TEST_F(TranslatedTcp, IsDroppedOutsideOfItsWindows) {
    open(translating());
    becomesFast();
    expectSlow(0, {.payload = 10, .ahead = 10000000}, "flow-window", false);
    expectSlow(1, {.payload = 10, .ahead = 10000000}, "flow-window", false);
    EXPECT_EQ(pass(0, {.payload = 50}), fastPath());
}

/// A checksum that nobody looks at changes by as much as a right one does; 0 is one like others.
TEST_F(TranslatedTcp, HasAnyChecksumChanged) {
    open(translating());
    sysctl("net.netfilter.nf_conntrack_checksum", "0");
    becomesFast();
    const auto checksum = [](const Frame& frame) { return frame.bytes.at(50) << 8 | frame.bytes.at(51); };
    auto right = frame(0, {});
    const int difference = checksum(leaving(right, 0)) - checksum(right) + 0xffff;
    for (const int value : {0, 1, 0xfffe, 0xffff, (2 * 0xffff - difference) % 0xffff}) {
        auto sent = right, left = leaving(right, 0);
        put(sent, 50, static_cast<std::uint32_t>(value), 2);
        put(left, 50, static_cast<std::uint32_t>((value + difference) % 0xffff), 2);
        EXPECT_EQ(treat(sent), (Treatment{fastPath(), routedTo(left)})) << value;
    }
}

/// What was learnt of one connection is not about the next one of the same ends.
TEST_F(TranslatedTcp, BeginsAgain) {
    open(translating());
    becomesFast();
    pass(0, {.flags = fin | ack});
    pass(1, {.flags = fin | ack});
    pass(0, {});
    shakeHands();
    becomesFast();
}

/// It is reset, and its service is elsewhere by now: what begins at once does not go where it was.
TEST_F(TranslatedTcp, ThatIsResetDoesNotBeginAgainWhereItWas) {
    open(translating());
    becomesFast();
    nft("flush chain ip guard before; add rule ip guard before ip daddr 10.0.9.9 tcp dport 80"
        " dnat to 10.0.2.2:5000");
    pass(0, {.flags = rst | ack});
    const auto again = frame(0, {.flags = syn, .options = handshakeOptions});
    Arrivals out;
    ASSERT_TRUE(eventually([&] {
        out = treat(again, 0).out;
        return !out.empty();
    }));
    EXPECT_TRUE(out.contains(2)) << "it goes to the new one";
}

/// As people write rules for a router: nothing is looked at before it is known where that is to go.
constexpr const char* atBothPlaces =
    " chain input { type filter hook input priority 0; policy drop; iif lo accept;"
    " ct state vmap { established : accept, related : accept, invalid : drop }; };"
    " chain forward { type filter hook forward priority 0; policy drop;"
    " ct state established,related accept; ct state invalid drop; iif p0 accept; };";

/// The service's address is not the router's: Linux asks for a route to it, and tells if there is none.
TEST_F(TranslatedTcp, IsLinuxsWhereWhatIsInvalidIsForNoAddressOfTheRouter) {
    constexpr const char* input =
        " chain input { type filter hook input priority 0; ct state invalid drop; };";
    open(translating(input));
    std::uint64_t fast = 0;
    EXPECT_FALSE(eventually(
        [&] {
            fast += pass(0, {.flags = psh | ack, .payload = 50}).fast;
            pass(1, {});
            return fast > 0 || HasFailure();
        },
        std::chrono::seconds(2)));
    must("ip address add 10.0.9.9/32 dev p0");
    EXPECT_TRUE(eventually([&] {
        pass(1, {});
        return pass(0, {.flags = psh | ack, .payload = 50}).fast > 0 || HasFailure();
    }));
}

/// The router has one address outside, and no rules but for that.
class MasqueradedTcp : public Tcp {
protected:
    static constexpr const char* masquerading =
        "table ip guard { chain after { type nat hook postrouting priority 100; oif p1 masquerade; }; }";

    [[nodiscard]] Connection ends(unsigned host) const override {
        auto ends = Tcp::ends(host);
        if (host == 1)
            ends.to = "10.0.1.1";
        return ends;
    }
    [[nodiscard]] Frame leaving(const Frame& made, unsigned host) const override {
        auto left = made;
        put(left, host == 0 ? 26 : 30, host == 0 ? 0x0a000101 : 0x0a000002, 4);
        put(left, 50, 0, 2);
        const std::size_t total = left.bytes.at(16) << 8U | left.bytes.at(17);
        sum(left, total - 20);
        finishIpv4(left);
        return left;
    }
    /// For longer than it takes until others are fast.
    void neverBecomesFast() {
        EXPECT_FALSE(eventually(
            [&] {
                pump();
                bool fast = false;
                for (const unsigned host : {0U, 1U}) {
                    fast |= pass(host, {.flags = psh | ack, .payload = 50}).fast > 0;
                    fast |= pass(1 - host, {}).fast > 0;
                }
                return fast || HasFailure();
            },
            std::chrono::seconds(2)));
    }
    /// What is called invalid has no connection, and is not translated: the answer is the router's own.
    void expectInvalidToGoElsewhere(const Segment& segment) {
        EXPECT_FALSE(treat(frame(1, segment), 1).out.contains(0));
        const auto there = frame(0, segment);
        EXPECT_EQ(treat(there).out, routedTo(there)) << "from the address that it has";
    }
    [[nodiscard]] Frame outOfWindow(unsigned host, std::uint32_t hopsLeft = 64) {
        auto sent = frame(host, {.payload = 10, .ahead = 10000000});
        put(sent, 22, hopsLeft, 1);
        finishIpv4(sent);
        return sent;
    }
};

TEST_F(MasqueradedTcp, IsLinuxsWhereWhatIsInvalidGoesElsewhere) {
    open(masquerading);
    neverBecomesFast();
    expectInvalidToGoElsewhere({.payload = 10, .ahead = 10000000});
}

/// Whether Linux is liberal or not.
TEST_F(MasqueradedTcp, IsLinuxsWhereOldResetsGoElsewhere) {
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    open(masquerading);
    neverBecomesFast();
    expectInvalidToGoElsewhere({.flags = rst, .ahead = -60});
}

TEST_F(MasqueradedTcp, IsFastWhereNothingIsInvalid) {
    sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1");
    sysctl("net.netfilter.nf_conntrack_tcp_ignore_invalid_rst", "1");
    open(masquerading);
    becomesFast();
    EXPECT_EQ(pass(1, {.payload = 10, .ahead = 10000000}).fast, 1U);
    sysctl("net.netfilter.nf_conntrack_tcp_ignore_invalid_rst", "0");
    EXPECT_EQ(pass(0, {.payload = 10}), slowPath("flow-translated"));
}

TEST_F(MasqueradedTcp, IsFastWhereWhatIsInvalidIsDroppedFirst) {
    open(std::string(masquerading).insert(std::string(masquerading).find('{') + 1, early));
    becomesFast();
    for (const unsigned host : {0U, 1U}) {
        expectSlow(host, {.payload = 10, .ahead = 10000000}, "flow-window", false);
        expectSlow(host, {.flags = rst, .ahead = -60}, "flow-kind", false);
        EXPECT_EQ(treat(outOfWindow(host, 1), host).out, Arrivals{}) << "nobody asks for its hops";
    }
    nft("delete chain ip guard early");
    rulesAreKnown();
    for (const unsigned host : {0U, 1U})
        EXPECT_EQ(treat(frame(host, {.payload = 10, .ahead = 10000000}), host).out, Arrivals{});
}

TEST_F(MasqueradedTcp, IsFastWhereWhatIsInvalidIsDroppedWhereverItGoes) {
    open(std::string(masquerading).insert(std::string(masquerading).find('{') + 1, atBothPlaces));
    // Who sends to beyond the router is told of the last hop, whether or not Linux knows the windows.
    const auto expectTold = [&] {
        EXPECT_EQ(treat(outOfWindow(0, 1), 0).out.size(), 1U);
        EXPECT_EQ(treat(outOfWindow(1, 1), 1).out, Arrivals{}) << "it is for the router itself";
    };
    expectTold();
    becomesFast();
    expectTold();
    for (const unsigned host : {0U, 1U}) {
        EXPECT_EQ(treat(outOfWindow(host), host).out, Arrivals{});
        expectSlow(host, {.payload = 10, .ahead = 10000000}, "flow-window", false);
        expectSlow(host, {.flags = rst, .ahead = -60}, "flow-kind", false);
    }
    EXPECT_EQ(pass(1, {.payload = 10}), fastPath());
    nft("insert rule ip guard input tcp dport 4000 accept");
    rulesAreKnown();
    EXPECT_EQ(pass(0, {.payload = 10}), slowPath("flow-translated"));
}

} // namespace
} // namespace tna::test
