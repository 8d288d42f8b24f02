// SPDX-License-Identifier: Apache-2.0
// Packets of connections that pass rules: what Linux has let pass once is fast, and all else is Linux's.
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
    expectEachLinux({{forth({.fragment = 0x2000}), "flow-kind"},
                     {forth({.fragment = 1}), "flow-kind"},
                     {runt, "flow-kind"},
                     {changed(23, 6), "flow-kind"},
                     {changed(23, 1), "flow-kind"},
                     {shorter, "flow-kind"},
                     {longer, "flow-kind"}});
    expectFast(forth({.tos = 8}));
    expectFast(forth({.fragment = 0x4000}));
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
    begin();
    learned();
    must("ip route add 10.0.0.2/32 via 10.0.2.2");
    const auto frame = finishUdp(ipv4Frame(portMac(2), station(3), {}), 4000, 5000);
    EXPECT_EQ(treat(frame, 2), (Treatment{slowPath("flow-changed"), routedTo(forth())}));
}

TEST_F(Flows, AreSeenByLinuxNowAndThen) {
    config_.kernel.refresh = 500;
    sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "120");
    begin();
    learned();
    std::uint64_t fast = 0, slow = 0;
    for (int i = 0; i < 40; i++) {
        ::usleep(100'000);
        const auto path = send(forth());
        fast += path.fast;
        slow += path.slow.contains("flow-refresh") ? 1 : 0;
        EXPECT_GE(timeoutOf(connection_).value_or(0), 117U) << i;
    }
    EXPECT_GT(fast, 0U);
    EXPECT_GT(slow, 0U);
    EXPECT_EQ(fast + slow, 40U);
}

} // namespace
} // namespace tna::test
