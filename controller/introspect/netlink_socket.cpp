// SPDX-License-Identifier: Apache-2.0
#include "introspect/netlink_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

namespace tna::introspect {

namespace {
constexpr int dumpAttempts = 5;
}

void forEachMessage(Bytes datagram, const std::function<void(const nlmsghdr&, const Message&)>& handle) {
    while (datagram.size() >= sizeof(nlmsghdr)) {
        nlmsghdr header{};
        std::memcpy(&header, datagram.data(), sizeof(header));
        if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > datagram.size())
            return;
        handle(header, Message{header.nlmsg_type,
                               datagram.subspan(sizeof(header), header.nlmsg_len - sizeof(header))});
        const std::size_t aligned = (header.nlmsg_len + std::size_t{3}) & ~std::size_t{3};
        datagram = datagram.subspan(std::min(aligned, datagram.size()));
    }
}

Result<NetlinkSocket> NetlinkSocket::open(const std::vector<unsigned>& groups, int receiveBuffer) {
    UniqueFd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
    if (!fd)
        return failErrno(errno, "cannot open a netlink socket");
    // Beyond rmem_max this needs CAP_NET_ADMIN; a smaller buffer only means more resynchronisations.
    if (receiveBuffer > 0)
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receiveBuffer, sizeof(receiveBuffer));
    const int one = 1;
    ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot bind a netlink socket");
    for (const unsigned group : groups)
        if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) != 0)
            return failErrno(errno, "cannot listen to netlink group {}", group);
    return NetlinkSocket{std::move(fd)};
}

Result<void> NetlinkSocket::dump(std::uint16_t type, Bytes header, const MessageHandler& handle) {
    for (int attempt = 0; attempt < dumpAttempts; attempt++) {
        const auto outcome = dumpOnce(type, header, handle);
        if (!outcome)
            return std::unexpected(outcome.error());
        if (*outcome == Outcome::done)
            return {};
    }
    return {}; // changes keep coming: what they changed is notified
}

Result<NetlinkSocket::Outcome> NetlinkSocket::dumpOnce(std::uint16_t type, Bytes header,
                                                       const MessageHandler& handle) {
    std::vector<std::byte> request(sizeof(nlmsghdr) + header.size());
    nlmsghdr start{};
    start.nlmsg_len = static_cast<std::uint32_t>(request.size());
    start.nlmsg_type = type;
    start.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    start.nlmsg_seq = ++sequence_;
    std::memcpy(request.data(), &start, sizeof(start));
    std::memcpy(request.data() + sizeof(start), header.data(), header.size());
    if (::send(fd_.get(), request.data(), request.size(), 0) < 0)
        return failErrno(errno, "cannot ask for a netlink dump");

    bool done = false;
    bool interrupted = false;
    int refused = 0;
    while (!done) {
        const ssize_t received = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
        if (received < 0 && (errno == EINTR || errno == EAGAIN))
            continue; // dumps are answered by the kernel while send() runs, and at each recv()
        if (received < 0)
            return failErrno(errno, "a netlink dump broke off");
        forEachMessage({buffer_.data(), static_cast<std::size_t>(received)},
                       [&](const nlmsghdr& answer, const Message& message) {
                           if (answer.nlmsg_seq != sequence_)
                               return;
                           interrupted = interrupted || (answer.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
                           if (answer.nlmsg_type == NLMSG_DONE || answer.nlmsg_type == NLMSG_ERROR) {
                               done = true;
                               if (answer.nlmsg_type == NLMSG_ERROR)
                                   if (const auto code = message.header<int>())
                                       refused = -*code;
                           } else {
                               handle(message);
                           }
                       });
    }
    if (refused != 0)
        return failErrno(refused, "the kernel refused a netlink dump of type {}", type);
    return interrupted ? Outcome::interrupted : Outcome::done;
}

Result<NetlinkSocket::Drained> NetlinkSocket::drain(const MessageHandler& handle) {
    auto drained = Drained::nothing;
    for (;;) {
        const ssize_t received = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0 && errno == EAGAIN)
            return drained;
        if (received < 0 && errno == ENOBUFS)
            return Drained::overrun;
        if (received < 0)
            return failErrno(errno, "cannot receive netlink notifications");
        if (drained == Drained::nothing)
            drained = Drained::something;
        forEachMessage({buffer_.data(), static_cast<std::size_t>(received)},
                       [&](const nlmsghdr&, const Message& message) { handle(message); });
    }
}

} // namespace tna::introspect
