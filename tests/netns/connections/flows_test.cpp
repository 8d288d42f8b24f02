// SPDX-License-Identifier: Apache-2.0
// Packets of connections that pass rules: what Linux has let pass once is fast, and all else is Linux's.
#include "base/file.hpp"
#include "connections_fixture.hpp"

namespace tna::test {
namespace {

class Flows : public ConnectionsTest {
protected:
    /// Packets of the connection that Linux is to have, although others like them are fast.
    void expectEachLinux(const std::vector<std::pair<Frame, const char*>>& frames) {
        for (const auto& [frame, reason] : frames) {
            SCOPED_TRACE(reason);
            expectFast(forth());
            EXPECT_EQ(treat(frame).path, slowPath(reason));
        }
        expectFast(forth());
    }
    void expectNothingLearnt(const std::string& loaded, const EntryWords& words) {
        nft(loaded);
        if (const int error = addConnection(connection_, words); error != 0)
            GTEST_SKIP() << "there is no such connection: " << std::strerror(error);
        accelerate();
        if (IsSkipped())
            return;
        rulesAreKnown();
        for (int i = 0; i < 3; i++)
            expectLinux(forth(), "flow-unknown");
    }
    /// The same packet with something else in it, and the checksum of IPv4 right.
    static Frame changed(std::size_t at, std::uint8_t value) {
        auto frame = forth();
        frame.bytes.at(at) = value;
        finishIpv4(frame);
        return frame;
    }
};

TEST_F(Flows, OfAConnectionAreFastInBothDirections) {
    begin();
    expectLinux(forth(), "flow-unknown");
    expectFast(forth());
    EXPECT_EQ(treat(back(), 1), (Treatment{slowPath("flow-unknown"), routedTo(back(), 0)}));
    EXPECT_EQ(treat(back(), 1), (Treatment{fastPath(), routedTo(back(), 0)}));
    expectFast(forth());
}

/// Rules have let another packet pass.
TEST_F(Flows, WhosePortAModuleChangesAreLinuxs) {
    connection_.toPort = 7211;
    begin();
    const auto changed = forth({}, 7211);
    ASSERT_EQ(treat(changed).out, routedTo(changed));
    expectFast(changed);
    const auto object = readFile(TNA_MODULE);
    ASSERT_TRUE(object);
    const auto placed = controller_->modules().place("module", *object, {.hooks = {"route"}}, false);
    ASSERT_TRUE(placed) << placed.error().sentence();
    EXPECT_EQ(treat(changed), (Treatment{slowPath("module-changed"), {}}));
    ASSERT_TRUE(controller_->modules().remove("module"));
    expectFast(changed);
}

TEST_F(Flows, OfNoConnectionAreDroppedByLinux) {
    begin();
    for (int i = 0; i < 3; i++)
        expectLinux(forth({}, 5001), "flow-unknown", false);
}

TEST_F(Flows, AreLinuxsUntilItIsSureOfThem) {
    nft(rules);
    nft("add rule inet guard forward udp dport 5000 accept");
    accelerate();
    rulesAreKnown();
    EXPECT_TRUE(eventually([&] {
        const bool assured = isAssured(connection_);
        const auto there = treat(forth()), andBack = treat(back(), 1);
        EXPECT_EQ(there.out, routedTo(forth()));
        EXPECT_EQ(andBack.out, routedTo(back(), 0));
        EXPECT_TRUE(assured || there.path.fast == 0);
        return there.path.fast > 0 && andBack.path.fast > 0;
    }));
}

/// A connection of which not only the addresses matter: whatever Linux lets pass, nothing is learnt.
TEST_F(Flows, OfAConnectionThatIsCountedAreLinuxs) {
    sysctl("net.netfilter.nf_conntrack_acct", "1");
    begin();
    EXPECT_FALSE(controller_->port("p0")->dump().contains("nf_conntrack_acct"));
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "flow-unknown");
    for (const auto& told : {controller_->port("p0")->dump(), controller_->rules().dump()})
        EXPECT_TRUE(told.contains("sysctl -w net.netfilter.nf_conntrack_acct=0")) << told;
    sysctl("net.netfilter.nf_conntrack_acct", "0");
    for (const auto& told : {controller_->port("p0")->dump(), controller_->rules().dump()})
        EXPECT_FALSE(told.contains("nf_conntrack_acct")) << told;
}

TEST_F(Flows, OfAConnectionWithAHelperAreLinuxs) {
    expectNothingLearnt(rules, {.helper = "tftp"});
}

TEST_F(Flows, OfAConnectionInAZoneAreLinuxs) {
    expectNothingLearnt(
        "table inet guard { chain early { type filter hook prerouting priority -300; ct zone set 3; };"
        " chain forward { type filter hook forward priority 0; policy drop;"
        " ct state established accept; }; }",
        {.zone = 3});
}

/// Linux chooses the source, and chooses again when the address goes.
TEST_F(Flows, ThatAreMasqueradedAreFastWhileTheAddressIsThere) {
    nft("table ip guard { chain forward { type filter hook forward priority 0; policy drop;"
        " udp dport 5000 accept; ct state established accept; };"
        " chain after { type nat hook postrouting priority 100; oif p1 masquerade; }; }");
    accelerate();
    rulesAreKnown();
    const auto answer =
        finishUdp(ipv4Frame(portMac(1), station(2), {.from = "10.0.1.2", .to = "10.0.1.1"}), 5000, 4000);
    const auto hidden = finishUdp(packet({.from = "10.0.1.1"}), 4000, 5000);
    const auto shown =
        finishUdp(ipv4Frame(portMac(1), station(2), {.from = "10.0.1.2", .to = "10.0.0.2"}), 5000, 4000);
    EXPECT_TRUE(eventually([&] {
        const auto there = treat(forth()), andBack = treat(answer, 1);
        EXPECT_EQ(there.out, routedTo(hidden));
        EXPECT_EQ(andBack.out, routedTo(shown, 0));
        return (there.path.fast > 0 && andBack.path.fast > 0) || HasFailure();
    }));
    must("ip addr add 10.0.1.7/24 dev p1");
    must("sysctl -qw net.ipv4.conf.p1.promote_secondaries=1");
    must("ip addr del 10.0.1.1/24 dev p1");
    ASSERT_TRUE(eventually([&] { return !timeoutOf(connection_); })); // a worker of the kernel's does it
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(treat(forth()).path.fast, 0U);
        EXPECT_EQ(treat(answer, 1).path.fast, 0U);
    }
}

TEST_F(Flows, WithoutTheSettingAreLinuxs) {
    config_.limits.connections = 0;
    nft(rules);
    ASSERT_EQ(addConnection(connection_), 0);
    accelerate();
    for (int i = 0; i < 3; i++)
        expectLinux(forth(), "ip-netfilter");
}

TEST_F(Flows, OfAllLengthsHaveTheirChecksumVerified) {
    begin();
    learned();
    for (std::size_t payload = 8; payload < 1480; payload += payload < 80 ? 1 : 97) {
        SCOPED_TRACE(payload);
        auto frame = forth({.payload = payload});
        expectFast(frame);
        frame.bytes.back() ^= 1U;
        EXPECT_EQ(treat(frame), (Treatment{slowPath("flow-checksum"), {}})) << "invalid is not established";
    }
}

TEST_F(Flows, WithoutChecksumAreFast) {
    begin();
    learned();
    auto frame = forth();
    frame.bytes.at(40) = frame.bytes.at(41) = 0;
    expectFast(frame);
}

TEST_F(Flows, HaveAnyChecksumWhereLinuxDoesNotLook) {
    begin();
    learned();
    sysctl("net.netfilter.nf_conntrack_checksum", "0");
    auto frame = forth();
    frame.bytes.back() ^= 1U;
    expectFast(frame);
    sysctl("net.netfilter.nf_conntrack_checksum", "1");
    EXPECT_EQ(treat(frame).path, slowPath("flow-checksum"));
}

TEST_F(Flows, OfWhichAPacketIsOddAreLinuxsForThatPacket) {
    begin();
    learned();
    auto shorter = forth(), longer = forth();
    shorter.bytes.at(39)--;
    longer.bytes.at(39)++;
    auto runt = packet({.payload = 4});
    // The packet ends before its header does, and what stands there is padding.
    std::vector<Frame> cut;
    for (const unsigned total : {20U, 23U, 24U, 27U}) {
        auto frame = forth();
        frame.bytes.at(17) = static_cast<std::uint8_t>(total);
        frame.bytes.at(38) = 0;
        frame.bytes.at(39) = static_cast<std::uint8_t>(total - 20);
        frame.bytes.at(40) = frame.bytes.at(41) = 0;
        finishIpv4(frame);
        cut.push_back(frame);
    }
    expectEachLinux({{forth({.fragment = 0x2000}), "flow-kind"},
                     {forth({.fragment = 1}), "flow-kind"},
                     {runt, "flow-kind"},
                     {cut[0], "flow-kind"},
                     {cut[1], "flow-kind"},
                     {cut[2], "flow-kind"},
                     {cut[3], "flow-kind"},
                     {changed(23, 6), "flow-kind"},
                     {changed(23, 1), "flow-kind"},
                     {shorter, "flow-kind"},
                     {longer, "flow-kind"}});
    expectFast(forth({.fragment = 0x4000}));
}

/// What is called before they are put together has seen fragments, of which that with the ports comes last.
TEST_F(Flows, WhatIsPutTogetherFromFragmentsIsNoLesson) {
    begin(std::string(rules) + "; table ip early { chain before { type filter hook prerouting priority -450;"
                               " ip frag-off & 0x3fff != 0 accept; udp dport 5000 drop; }; }");
    expectLinux(forth(), "flow-unknown", false);
    constexpr std::size_t half = 24, header = 34;
    const auto whole = forth({.payload = 2 * half});
    for (std::uint16_t id = 2; id < 8; id++) {
        auto begins = packet({.id = id, .fragment = 0x2000, .payload = half});
        auto ends = packet({.id = id, .fragment = half / 8, .payload = half});
        std::copy_n(whole.bytes.begin() + header, half, begins.bytes.begin() + header);
        std::copy_n(whole.bytes.begin() + header + half, half, ends.bytes.begin() + header);
        EXPECT_EQ(treat(ends).out, Arrivals{});
        EXPECT_EQ(treat(begins).out.count(1), 1U);
    }
    expectLinux(forth(), "flow-unknown", false);
}

TEST_F(Flows, OfAnotherTypeOfServiceAreLinuxsAtFirst) {
    begin();
    learned();
    expectLinux(forth({.tos = 8}), "flow-changed");
    expectFast(forth({.tos = 8}));
}

TEST_F(Flows, FromAnotherPortOrToAnotherOneAreLinuxs) {
    begin();
    learned();
    EXPECT_EQ(treat(finishUdp(packet(), 4001, 5000)), (Treatment{slowPath("flow-unknown"), {}}));
    EXPECT_EQ(treat(finishUdp(packet(), 5000, 4000)), (Treatment{slowPath("flow-unknown"), {}}));
    EXPECT_EQ(treat(forth({.from = "10.0.0.3"})), (Treatment{slowPath("flow-unknown"), {}}));
    expectFast(forth());
}

TEST_F(Flows, ThatComeInElsewhereAreLinuxs) {
    must("ip route add 10.0.0.2/32 via 10.0.2.2");
    begin();
    expectLinux(forth(), "flow-unknown");
    expectFast(forth());
    const auto elsewhere = finishUdp(ipv4Frame(portMac(2), station(3), {}), 4000, 5000);
    EXPECT_EQ(treat(elsewhere, 2), (Treatment{slowPath("flow-changed"), routedTo(forth())}));
    EXPECT_EQ(treat(elsewhere, 2), (Treatment{fastPath(), routedTo(forth())}));
    expectLinux(forth(), "flow-changed");
}

TEST_F(Flows, AreSeenByLinuxNowAndThen) {
    config_.kernel.refresh = 500;
    sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "120");
    begin();
    learned();
    std::uint64_t fast = 0, slow = 0, sent = 0;
    EXPECT_TRUE(eventually([&] {
        const auto path = send(forth());
        sent++;
        fast += path.fast;
        slow += path.slow.contains("flow-refresh") ? 1 : 0;
        EXPECT_GE(timeoutOf(connection_).value_or(0), 117U) << sent;
        return slow > 2;
    }));
    EXPECT_GT(fast, 0U);
    EXPECT_EQ(fast + slow, sent);
}

} // namespace
} // namespace tna::test
