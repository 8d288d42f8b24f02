// SPDX-License-Identifier: Apache-2.0
#include "wires/wire.hpp"

#include "wires/udp_filter.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tna::wires {

namespace {
constexpr std::size_t atOnce = 64;
constexpr std::size_t largest = 65536 + 64; ///< what the kernel may have merged, too
constexpr int room = 256 << 20;

struct Slots {
    std::array<std::array<std::uint8_t, largest>, atOnce> frames;
    std::array<std::array<char, 128>, atOnce> controls;
};

/// As dhclient(8) has it.
sock_fprog clientsFilter() {
    static auto filter = udpFilter(68);
    return {static_cast<unsigned short>(filter.size()), filter.data()};
}

/// One for all sockets of a thread.
Slots& slots() {
    thread_local const auto mine = std::make_unique<Slots>();
    return *mine;
}
} // namespace

void putTagBack(msghdr& message, std::vector<std::uint8_t>& frame) {
    for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(&message, control)) {
        if (control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA)
            continue;
        tpacket_auxdata aux{};
        std::memcpy(&aux, CMSG_DATA(control), sizeof(aux));
        if ((aux.tp_status & TP_STATUS_VLAN_VALID) == 0 || frame.size() < 2 * ETH_ALEN)
            continue;
        const std::uint16_t protocol =
            (aux.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? aux.tp_vlan_tpid : ETH_P_8021Q;
        const std::array<std::uint8_t, 4> tag{
            static_cast<std::uint8_t>(protocol >> 8U), static_cast<std::uint8_t>(protocol),
            static_cast<std::uint8_t>(aux.tp_vlan_tci >> 8U), static_cast<std::uint8_t>(aux.tp_vlan_tci)};
        frame.insert(frame.begin() + 2 * ETH_ALEN, tag.begin(), tag.end());
    }
}

Result<Wire> Wire::open(const std::string& interface, Kind kind) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto option = [&](int level, int name, const auto& value) {
        return ::setsockopt(fd.get(), level, name, &value, sizeof(value)) == 0;
    };
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
    packet_mreq promiscuous{};
    promiscuous.mr_ifindex = address.sll_ifindex;
    promiscuous.mr_type = PACKET_MR_PROMISC;
    if (address.sll_ifindex == 0 || !option(SOL_PACKET, PACKET_AUXDATA, 1) ||
        !option(SOL_SOCKET, SO_RCVBUFFORCE, room) || !option(SOL_SOCKET, SO_SNDBUFFORCE, room) ||
        (kind == Kind::end && (!option(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) ||
                               !option(SOL_PACKET, PACKET_ADD_MEMBERSHIP, promiscuous))) ||
        (kind == Kind::listener && !option(SOL_SOCKET, SO_ATTACH_FILTER, clientsFilter())) ||
        ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot open a packet socket on {}", interface);
    return Wire(std::move(fd));
}

int Wire::send(const Frame& frame) const {
    return ::send(fd_.get(), frame.data(), frame.size(), 0) < 0 ? errno : 0;
}

bool Wire::waits(int milliseconds) const {
    pollfd waiting{fd_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, milliseconds) > 0;
}

Result<std::vector<Frame>> Wire::drain() const {
    std::vector<Frame> found;
    auto& [frames, controls] = slots();
    std::array<iovec, atOnce> parts{};
    std::array<mmsghdr, atOnce> messages{};
    for (int count = static_cast<int>(atOnce); count == static_cast<int>(atOnce);) {
        for (std::size_t i = 0; i < atOnce; i++) {
            parts[i] = {frames[i].data(), frames[i].size()};
            messages[i].msg_hdr = {.msg_iov = &parts[i],
                                   .msg_iovlen = 1,
                                   .msg_control = controls[i].data(),
                                   .msg_controllen = controls[i].size()};
        }
        count = ::recvmmsg(fd_.get(), messages.data(), atOnce, MSG_DONTWAIT, nullptr);
        for (int i = 0; i < count; i++) {
            const auto& bytes = frames[static_cast<std::size_t>(i)];
            auto& message = messages[static_cast<std::size_t>(i)];
            Frame frame(bytes.begin(), bytes.begin() + message.msg_len);
            putTagBack(message.msg_hdr, frame);
            found.push_back(std::move(frame));
        }
    }
    tpacket_stats counted{};
    socklen_t size = sizeof(counted);
    ::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &size);
    if (counted.tp_drops != 0)
        return fail("{} frames were lost on the way to this program", counted.tp_drops);
    return found;
}

} // namespace tna::wires
