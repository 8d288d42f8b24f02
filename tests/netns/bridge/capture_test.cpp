// SPDX-License-Identifier: Apache-2.0
// Whoever captures sees every frame, from the moment on that the socket is bound.
#include "bridge_fixture.hpp"
#include "support/listening.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class Capture : public AcceleratedBridgeTest {
protected:
    static UniqueFd capture(const char* interface, int protocol = ETH_P_ALL, bool promiscuous = false) {
        UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
        address.sll_ifindex = interface == nullptr ? 0 : static_cast<int>(::if_nametoindex(interface));
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        packet_mreq membership{};
        membership.mr_ifindex = address.sll_ifindex;
        membership.mr_type = PACKET_MR_PROMISC;
        if (promiscuous) {
            EXPECT_EQ(
                ::setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof(membership)),
                0);
        }
        return fd;
    }
    /// The frame arrives as ever, and `socket` sees it `times` times (on the ingress port, the egress port).
    void expectSeen(UniqueFd socket, const ::testing::Matcher<Path>& path, unsigned times = 1) {
        const Arrivals usual{{1, {oneToTwo()}}};
        const auto treatment = treat(oneToTwo());
        EXPECT_THAT(treatment.path, path);
        EXPECT_EQ(treatment.out, usual);
        std::vector<std::uint8_t> buffer(2048);
        for (unsigned i = 0; i < times; i++) {
            buffer.resize(2048);
            const auto size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
            buffer.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
            EXPECT_EQ(Frame{buffer}, oneToTwo()) << "the capture missed the frame";
        }
        socket.reset();
        EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), usual}));
    }
};

TEST_F(Capture, OnAllDevicesSeesEveryFrameAtBothPorts) {
    expectSeen(capture(nullptr), slowPath("capture"), 2);
}
TEST_F(Capture, OnTheIngressPortSeesEveryFrame) {
    expectSeen(capture("p0"), slowPath("capture"));
}
TEST_F(Capture, OnTheEgressPortSeesEveryFrame) {
    expectSeen(capture("p1"), slowPath("capture"));
}
TEST_F(Capture, OnThePromiscuousBridgeSeesEveryFrame) {
    // Before 6.15, any packet socket in the namespace counts as a capture.
    expectSeen(capture("br0", ETH_P_ALL, true),
               ::testing::AnyOf(slowPath("bridge-promisc"), slowPath("capture")));
}

/// On the bridge alone, without promiscuity, Linux shows nothing of frames between ports either.
TEST_F(Capture, ElsewhereIsNoReasonToBeSlow) {
    for (const char* interface : {"br0", "p2", "lo"}) {
        const auto socket = capture(interface);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}})) << interface;
    }
}

/// Linux hands bridged frames to taps only, which are the sockets of all protocols.
TEST_F(Capture, OfOneProtocolIsNoReasonToBeSlow) {
    const auto socket = capture("p0", ETH_P_IP);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

TEST_F(Capture, SocketThatIsNotBoundIsNoReasonToBeSlow) {
    const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    ASSERT_TRUE(socket);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

TEST_F(Capture, SeveralAtATimeAllHaveToEnd) {
    auto first = capture("p0");
    auto second = capture("p1");
    EXPECT_EQ(treat(oneToTwo()).path, slowPath("capture"));
    first.reset();
    EXPECT_EQ(treat(oneToTwo()).path, slowPath("capture"));
    second.reset();
    EXPECT_EQ(treat(oneToTwo()).path, fastPath());
}

/// Packet sockets with filters that want nothing of what is forwarded.
class Listeners : public Capture {
protected:
    static UniqueFd listen(const model::PacketFilter& filter, const char* interface = "p0") {
        auto socket = capture(interface);
        filterBy(socket.get(), filter);
        return socket;
    }
    void expectFast(const Frame& frame) { EXPECT_EQ(treat(frame), (Treatment{fastPath(), {{1, {frame}}}})); }
    void expectSlow(const Frame& frame) {
        EXPECT_EQ(treat(frame), (Treatment{slowPath("capture"), {{1, {frame}}}}));
    }
    static Frame udpTo(std::uint16_t port) {
        auto frame = oneToTwo();
        frame.bytes.at(36) = static_cast<std::uint8_t>(port >> 8U);
        frame.bytes.at(37) = static_cast<std::uint8_t>(port);
        return frame;
    }
    static Frame with(std::size_t at, std::uint8_t value, Frame frame = oneToTwo()) {
        frame.bytes.at(at) = value;
        return frame;
    }
    static Frame behindTags(unsigned tags, const Frame& frame) {
        auto builder = FrameBuilder().ethernet(station(2), station(1));
        for (unsigned i = 0; i < tags; i++)
            builder.vlan(ETH_P_8021Q, 7);
        auto tagged = builder.raw(0);
        tagged.bytes.insert(tagged.bytes.end(), frame.bytes.begin() + 12, frame.bytes.end());
        return tagged;
    }
};

TEST_F(Listeners, ForDhcpAreNoReasonToBeSlow) {
    for (const char* interface : {"p0", "p1", static_cast<const char*>(nullptr)})
        for (const auto port : {std::uint16_t{67}, std::uint16_t{68}}) {
            SCOPED_TRACE(interface == nullptr ? "all" : interface);
            const auto socket = listen(udpFor(port), interface);
            expectSlow(oneToTwo()); // as long as nobody has read the filter
            controller_->onTick();
            expectFast(oneToTwo());
            EXPECT_FALSE(hears(socket.get()));
            expectSlow(udpTo(port));
            EXPECT_TRUE(hears(socket.get()));
        }
    expectFast(oneToTwo());
    controller_->onTick();
    expectFast(udpTo(68));
    const auto again = listen(udpFor(68));
    expectSlow(udpTo(68));
    EXPECT_TRUE(hears(again.get()));
}

/// As lldpd does at each port.
TEST_F(Listeners, ForGroupsAreNoReasonToBeSlow) {
    const auto socket = listen(lldp()), other = listen(lldp(), "p1");
    controller_->onTick();
    expectFast(oneToTwo());
    EXPECT_FALSE(hears(socket.get()));
    auto frame = with(12, 0x88, with(13, 0xcc));
    std::ranges::copy(Mac{0x01, 0x80, 0xc2, 0, 0, 0x0e}, frame.bytes.begin());
    EXPECT_EQ(treat(frame).path.fast, 0U);
    EXPECT_TRUE(hears(socket.get()));
    // EDP's, which is no group's.
    const Mac edp{0, 0xe0, 0x2b, 0, 0, 0};
    must("bridge fdb replace " + text(edp) + " dev p1 master static");
    auto single = oneToTwo();
    std::ranges::copy(edp, single.bytes.begin());
    expectSlow(single);
    EXPECT_TRUE(hears(socket.get()));
    filterBy(socket.get(), {{BPF_RET | BPF_K, 0, 0, 0xffffffff}});
    expectSlow(oneToTwo());
}

/// As dhcpcd has them: one for its lease, one for each address.
TEST_F(Listeners, ForLeasesAreNoReasonToBeSlow) {
    const auto lease = listen(dhcpcd()), address = listen(dhcpcdArp());
    controller_->onTick();
    expectFast(oneToTwo());
    EXPECT_FALSE(hears(lease.get()));
    EXPECT_FALSE(hears(address.get()));
    expectSlow(udpTo(68));
    EXPECT_TRUE(hears(lease.get()));
    EXPECT_FALSE(hears(address.get()));
}

/// Of those with the same filter, one is as good as many.
TEST_F(Listeners, OnManyPortsAreNoReasonToBeSlow) {
    std::vector<UniqueFd> sockets;
    for (unsigned i = 0; i < TNA_FILTERS_LISTED; i++)
        sockets.push_back(listen(lldp(), "p2"));
    sockets.push_back(listen(udpFor(68)));
    for (unsigned i = 0; i < TNA_FILTERS_LISTED; i++)
        sockets.push_back(listen(lldp(), "p2"));
    controller_->onTick();
    expectFast(oneToTwo());
}

/// With more sockets than are looked at, the filters of those behind are not known.
TEST_F(Listeners, BehindManyOthersAreHeard) {
    constexpr unsigned most = 64;
    std::vector<UniqueFd> others;
    const auto withOthers = [&](unsigned number) {
        while (others.size() < number)
            others.push_back(capture("p2", ETH_P_LLDP));
        const auto socket = listen(lldp());
        controller_->onTick();
        return treat(oneToTwo());
    };
    EXPECT_EQ(withOthers(most / 2), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    EXPECT_EQ(withOthers(most), (Treatment{slowPath("capture"), {{1, {oneToTwo()}}}}));
}

TEST_F(Listeners, GetWhatTheyMayWant) {
    const auto dhcp = listen(udpFor(68)), arp = listen(framesOf(ETH_P_ARP));
    controller_->onTick();
    for (const auto& frame :
         {udpTo(67), udpTo(68), with(20, 1, with(36, 9)), with(21, 1), with(14, 0x46), with(13, 6),
          behindTags(1, udpTo(68)), behindTags(2, udpTo(68)), behindTags(3, oneToTwo())})
        expectSlow(frame);
    EXPECT_TRUE(hears(dhcp.get()));
    EXPECT_TRUE(hears(arp.get()));
    auto six = oneToTwo();
    six.bytes[12] = 0x86;
    six.bytes[13] = 0xdd;
    for (const auto& frame : {oneToTwo(), udpTo(69), udpTo(53), with(23, 6, udpTo(68)), six,
                              behindTags(1, oneToTwo()), behindTags(2, oneToTwo())})
        expectFast(frame);
}

TEST_F(Listeners, ForAnythingElseSeeEveryFrame) {
    for (const auto& filter : {udpFor(53), framesOf(ETH_P_IP), framesOf(ETH_P_8021Q)}) {
        const auto socket = listen(filter);
        controller_->onTick();
        expectSlow(oneToTwo());
    }
    auto dhcp = listen(udpFor(68));
    const auto other = capture("p0");
    controller_->onTick();
    expectSlow(oneToTwo());
    dhcp.reset();
    expectSlow(oneToTwo());
}

/// Nobody tells that a socket has another filter now.
TEST_F(Listeners, WithAnotherFilterSeeEveryFrameFromThenOn) {
    const auto socket = listen(udpFor(68));
    controller_->onTick();
    expectFast(oneToTwo());
    for (std::size_t i = 0; i < udpFor(68).size(); i++) {
        auto filter = udpFor(68);
        if (filter[i].code == (BPF_RET | BPF_K))
            filter[i].operand ^= 1;
        else
            filter[i].operand++;
        filterBy(socket.get(), filter);
        expectSlow(oneToTwo());
    }
    filterBy(socket.get(), {{BPF_RET | BPF_K, 0, 0, 0xffffffff}});
    expectSlow(oneToTwo());
    EXPECT_TRUE(hears(socket.get()));
    filterBy(socket.get(), udpFor(68));
    expectFast(oneToTwo());
    const int unused = 0;
    ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)), 0);
    expectSlow(oneToTwo());
    EXPECT_TRUE(hears(socket.get()));
}

/// Its filter sees packets from the IP header on.
TEST_F(Listeners, WithoutEthernetHeadersSeeEveryFrame) {
    const UniqueFd socket{::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    filterBy(socket.get(), udpFor(68));
    const auto dhcp = listen(udpFor(68), "p2"); // for which the filter is known
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex("p0"));
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    controller_->onTick();
    expectSlow(oneToTwo());
}

/// Instead of the sockets, their group is in the list.
TEST_F(Listeners, InAGroupSeeEveryFrame) {
    const auto socket = listen(udpFor(68));
    controller_->onTick();
    expectFast(oneToTwo());
    const int group = 17 | PACKET_FANOUT_HASH << 16; // AF_PACKET, where a socket has its family
    ASSERT_EQ(::setsockopt(socket.get(), SOL_PACKET, PACKET_FANOUT, &group, sizeof(group)), 0);
    expectSlow(oneToTwo());
}

TEST_F(Listeners, WithMoreFiltersThanAreKnownSeeEveryFrame) {
    std::vector<UniqueFd> sockets;
    for (std::uint16_t i = 0; i < 4; i++)
        sockets.push_back(listen(framesOf(static_cast<std::uint16_t>(0x9000 + i))));
    controller_->onTick();
    expectFast(oneToTwo());
    sockets.push_back(listen(framesOf(0x9004)));
    controller_->onTick();
    expectSlow(oneToTwo());
    sockets.erase(sockets.begin());
    controller_->onTick();
    expectFast(oneToTwo());
}

} // namespace
} // namespace tna::test
