// SPDX-License-Identifier: Apache-2.0
// Whoever captures sees every frame, from the moment on that the socket is bound.
#include "bridge_fixture.hpp"

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

} // namespace
} // namespace tna::test
