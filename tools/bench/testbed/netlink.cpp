// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/netlink.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr std::size_t bufferSize = 16384;
/// Messages that are sent at once; they all fit.
constexpr unsigned perBatch = 128;

nlmsghdr* putHeader(void* at, std::uint16_t type, std::uint16_t flags, unsigned sequence) {
    nlmsghdr* message = mnl_nlmsg_put_header(at);
    message->nlmsg_type = type;
    message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    message->nlmsg_seq = sequence;
    return message;
}

void putEntry(nlmsghdr* message, unsigned port, const std::array<unsigned char, 6>& mac) {
    auto* entry = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
    entry->ndm_family = AF_BRIDGE;
    entry->ndm_ifindex = static_cast<int>(port);
    entry->ndm_state = NUD_REACHABLE;
    entry->ndm_flags = NTF_MASTER;
    mnl_attr_put(message, NDA_LLADDR, mac.size(), mac.data());
}

void putStation(nlmsghdr* message, unsigned port, unsigned number) {
    putEntry(message, port,
             {2, 0x10, static_cast<unsigned char>(number >> 24U), static_cast<unsigned char>(number >> 16U),
              static_cast<unsigned char>(number >> 8U), static_cast<unsigned char>(number)});
}
} // namespace

Result<Netlink> Netlink::open() {
    Socket socket{mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)};
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
        return failErrno(errno, "cannot open a netlink socket");
    return Netlink{std::move(socket)};
}

/// The last message must ask for an acknowledgement and carry the present sequence number.
Result<void> Netlink::send(const void* messages, std::size_t size) {
    if (mnl_socket_sendto(socket_.get(), messages, size) < 0)
        return failErrno(errno, "cannot send over netlink");
    std::array<char, bufferSize> buffer{};
    for (int state = MNL_CB_OK; state > MNL_CB_STOP;) {
        const auto received = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
        state = received < 0 ? -1
                             : mnl_cb_run(buffer.data(), static_cast<std::size_t>(received), sequence_,
                                          mnl_socket_get_portid(socket_.get()), nullptr, nullptr);
        if (state < 0 && received >= 0 && errno == EPROTO)
            state = MNL_CB_OK; // another number: about changes after the first one that was refused before
        if (state < 0)
            return failErrno(errno, "the kernel refused a change");
    }
    return {};
}

Result<void> Netlink::setLearning(unsigned ifindex, bool on) {
    return setPort(ifindex, IFLA_BRPORT_LEARNING, on);
}

Result<void> Netlink::setIsolated(unsigned ifindex, bool on) {
    return setPort(ifindex, IFLA_BRPORT_ISOLATED, on);
}

Result<void> Netlink::moveStation(unsigned ifindex) {
    std::array<char, 256> buffer{};
    auto* message =
        putHeader(buffer.data(), RTM_NEWNEIGH,
                  static_cast<std::uint16_t>(NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK), ++sequence_);
    putEntry(message, ifindex, {2, 0, 0, 0, 0, 0});
    return send(message, message->nlmsg_len);
}

Result<void> Netlink::setPort(unsigned ifindex, std::uint16_t setting, bool on) {
    std::array<char, 256> buffer{};
    auto* message = putHeader(buffer.data(), RTM_SETLINK, NLM_F_ACK, ++sequence_);
    auto* link = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg)));
    link->ifi_family = AF_BRIDGE;
    link->ifi_index = static_cast<int>(ifindex);
    nlattr* settings = mnl_attr_nest_start(message, IFLA_PROTINFO);
    mnl_attr_put_u8(message, setting, on ? 1 : 0);
    mnl_attr_nest_end(message, settings);
    return send(message, message->nlmsg_len);
}

Result<void> Netlink::addStations(const std::vector<unsigned>& ports, unsigned count) {
    std::array<char, bufferSize> buffer{};
    for (unsigned done = 0; done < count;) {
        const unsigned end = std::min(count, done + perBatch);
        std::size_t size = 0;
        sequence_++;
        for (; done < end; done++) {
            const bool last = done + 1 == end;
            auto* message = putHeader(
                buffer.data() + size, RTM_NEWNEIGH,
                static_cast<std::uint16_t>(NLM_F_CREATE | NLM_F_REPLACE | (last ? NLM_F_ACK : 0)), sequence_);
            putStation(message, ports[done % ports.size()], done);
            size += NLMSG_ALIGN(message->nlmsg_len);
        }
        if (auto sent = send(buffer.data(), size); !sent)
            return sent;
    }
    return {};
}

} // namespace tna::bench
