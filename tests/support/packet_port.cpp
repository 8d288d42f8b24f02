// SPDX-License-Identifier: Apache-2.0
#include "support/packet_port.hpp"

#include "wires/wire.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/uio.h>

namespace tna::test {

namespace {
/// struct virtio_net_hdr; the kernel's header is not C++.
struct OffloadHeader {
    std::uint8_t flags;
    std::uint8_t gsoType;
    std::uint16_t headerLength;
    std::uint16_t gsoSize;
    std::uint16_t checksumStart;
    std::uint16_t checksumOffset;
};
constexpr std::uint8_t needsChecksum = 1; // VIRTIO_NET_HDR_F_NEEDS_CSUM

UniqueFd open(const std::string& interface, int protocol) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
    if (!fd || address.sll_ifindex == 0 ||
        ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw std::runtime_error("cannot open a packet socket on " + interface);
    return fd;
}
} // namespace

PacketPort::PacketPort(const std::string& interface)
    : fd_(open(interface, ETH_P_ALL)), offloading_(open(interface, 0)) {
    const int one = 1;
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one));
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
    ::setsockopt(offloading_.get(), SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one));
    packet_mreq promiscuous{};
    promiscuous.mr_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
    promiscuous.mr_type = PACKET_MR_PROMISC;
    ::setsockopt(fd_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous));
}

void PacketPort::send(const Frame& frame) const {
    const auto sent = ::send(fd_.get(), frame.bytes.data(), frame.bytes.size(), 0);
    ASSERT_EQ(sent, static_cast<ssize_t>(frame.bytes.size())) << std::strerror(errno);
}

void PacketPort::sendUnfinished(const Frame& frame, std::uint16_t start, std::uint16_t offset) const {
    OffloadHeader header{};
    header.flags = needsChecksum;
    header.checksumStart = start;
    header.checksumOffset = offset;
    std::array<iovec, 2> parts{
        {{&header, sizeof(header)}, {const_cast<std::uint8_t*>(frame.bytes.data()), frame.bytes.size()}}};
    const auto sent = ::writev(offloading_.get(), parts.data(), static_cast<int>(parts.size()));
    ASSERT_EQ(sent, static_cast<ssize_t>(sizeof(header) + frame.bytes.size())) << std::strerror(errno);
}

std::optional<Frame> PacketPort::receive(std::chrono::milliseconds patience) const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0)
        return std::nullopt;
    std::vector<std::uint8_t> bytes(65536);
    std::array<char, 256> control{};
    iovec part{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto received = ::recvmsg(fd_.get(), &message, 0);
    if (received < 0)
        return std::nullopt;
    bytes.resize(static_cast<std::size_t>(received));
    wires::putTagBack(message, bytes);
    return Frame{std::move(bytes)};
}

std::vector<Frame> PacketPort::drain() const {
    std::vector<Frame> frames;
    while (auto frame = receive(std::chrono::milliseconds(0)))
        frames.push_back(std::move(*frame));
    return frames;
}

} // namespace tna::test
