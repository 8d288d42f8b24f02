// SPDX-License-Identifier: Apache-2.0
// Marks of senders (SO_MARK), which Linux keeps on frames that stay in their namespace.
#include "bridge_fixture.hpp"

#include <array>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef SO_RCVMARK
#define SO_RCVMARK 75
#endif

namespace tna::test {
namespace {

/// Two more ports, s0 and t0, whose far ends s1 and t1 lie in the same namespace.
class SenderMarks : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        for (const std::string name : {"s", "t"}) {
            must("ip link add " + name + "0 type veth peer name " + name + "1");
            must("ip link set " + name + "1 up");
            must("ip link set " + name + "0 master br0 up");
            must("ethtool -K " + name + "1 gro on");
        }
        must("bridge fdb replace " + text(station(7)) + " dev s0 master static");
        must("bridge fdb replace " + text(station(8)) + " dev t0 master static");
        socket_ = UniqueFd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        const int one = 1;
        if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVMARK, &one, sizeof(one)) != 0)
            GTEST_SKIP() << "this kernel does not tell of marks";
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_IP);
        address.sll_ifindex = static_cast<int>(::if_nametoindex("t1"));
        ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        ASSERT_TRUE(eventually([&] { return markAfter(0) == 0U; }, std::chrono::seconds(20)))
            << "the ports do not open";
    }
    /// The mark with which a frame comes out that was sent with one.
    [[nodiscard]] std::optional<std::uint32_t> markAfter(std::uint32_t mark) {
        const auto frame = FrameBuilder().ethernet(station(8), station(7)).udp();
        sockaddr_ll to{};
        to.sll_family = AF_PACKET;
        to.sll_ifindex = static_cast<int>(::if_nametoindex("s1"));
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
        EXPECT_GT(::sendto(socket_.get(), frame.bytes.data(), frame.bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&to), sizeof(to)),
                  0);
        pollfd waiting{socket_.get(), POLLIN, 0};
        if (::poll(&waiting, 1, 1000) <= 0)
            return std::nullopt;
        std::array<std::uint8_t, 2048> bytes{};
        std::array<char, 256> control{};
        iovec part{bytes.data(), bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (::recvmsg(socket_.get(), &message, 0) < 0)
            return std::nullopt;
        for (auto* part_ = CMSG_FIRSTHDR(&message); part_ != nullptr; part_ = CMSG_NXTHDR(&message, part_))
            if (part_->cmsg_level == SOL_SOCKET && part_->cmsg_type == SO_MARK) {
                std::uint32_t found = 0;
                std::memcpy(&found, CMSG_DATA(part_), sizeof(found));
                return found;
            }
        return 0;
    }
    [[nodiscard]] std::uint64_t slow(const std::string& reason) {
        std::uint64_t packets = 0;
        const auto document = controller_->port("s0");
        for (const auto& each : (*document)["slow_path"])
            if (each["code"] == reason)
                packets += each["packets"].get<std::uint64_t>();
        return packets;
    }

private:
    UniqueFd socket_;
};

TEST_F(SenderMarks, AreStillThereBehindTheEgressPort) {
    ASSERT_EQ(markAfter(7), 7U) << "Linux itself";
    accelerate();
    if (IsSkipped())
        return;
    ASSERT_TRUE(reaches("s0", "accelerated") && reaches("t0", "accelerated"));
    for (const std::uint32_t mark : {0U, 7U, 0U, 0x80000000U, 0U})
        EXPECT_EQ(markAfter(mark), mark);
    // Where packet sockets cannot be told from captures they come first.
    EXPECT_EQ(slow("marked") + slow("capture"), slow("capture") == 0 ? 2U : 5U);
}

} // namespace
} // namespace tna::test
