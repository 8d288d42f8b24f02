// SPDX-License-Identifier: Apache-2.0
#include "netlink/socket.hpp"

#include <cerrno>
#include <libmnl/libmnl.h>
#include <sys/socket.h>

namespace tna::netlink {

namespace {

// The kernel fills dump messages up to 32 KiB (netlink_dump), and announcements of a link stay below 64 KiB,
// the longest attribute there can be.
constexpr std::size_t receiveSize = 128 * 1024;
constexpr int dumpAttempts = 5;
// A single drain ends after so many reads, so that a stream of events cannot hold up the caller forever.
constexpr int drainReads = 4096;
// The same for what is thrown away: as much as a buffer of 16 MiB can hold, and more.
constexpr int discardReads = 64 * 1024;

/// The errno in NLMSG_ERROR and, for dumps that fail half-way, in NLMSG_DONE.
int answeredError(const Message& message) {
    const int code = message.header<int>().value_or(0);
    return code < 0 ? -code : 0;
}

} // namespace

void Socket::Closer::operator()(mnl_socket* socket) const {
    mnl_socket_close(socket);
}

Socket::Socket(mnl_socket* socket) : socket_(socket), buffer_(receiveSize) {}

int Socket::fd() const {
    return mnl_socket_get_fd(socket_.get());
}

Result<Socket> Socket::open(int protocol, std::size_t receiveBuffer) {
    mnl_socket* raw = mnl_socket_open2(protocol, SOCK_CLOEXEC);
    if (raw == nullptr)
        return failErrno(errno, "cannot open a netlink socket of protocol {}", protocol);
    Socket socket(raw);
    if (mnl_socket_bind(raw, 0, MNL_SOCKET_AUTOPID) < 0)
        return failErrno(errno, "cannot bind a netlink socket of protocol {}", protocol);
    if (receiveBuffer != 0) {
        const int size = static_cast<int>(receiveBuffer);
        // SO_RCVBUFFORCE exceeds net.core.rmem_max, but needs CAP_NET_ADMIN in the first user namespace.
        if (setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0 &&
            setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size) < 0)
            return failErrno(errno, "cannot set the receive buffer of a netlink socket to {} bytes", size);
    }
    return socket;
}

Result<void> Socket::join(const std::vector<unsigned>& groups) {
    for (const unsigned group : groups) {
        unsigned value = group;
        if (mnl_socket_setsockopt(socket_.get(), NETLINK_ADD_MEMBERSHIP, &value, sizeof value) < 0)
            return failErrno(errno, "cannot subscribe to netlink group {}", group);
    }
    return {};
}

Socket::Outcome Socket::exchange(Request& request, const MessageHandler& handler) {
    return exchangeUntil(request, [&](const Message& message) {
        handler(message);
        return true;
    });
}

int Socket::begin(Request& request) {
    if (!request.whole())
        return EMSGSIZE;
    nlmsghdr& header = request.message();
    header.nlmsg_seq = ++sequence_;
    return mnl_socket_sendto(socket_.get(), &header, header.nlmsg_len) < 0 ? errno : 0;
}

Socket::Step Socket::step(const MessageHandler& handler) {
    const auto size = recv(fd(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0) // without a dump there is nothing
        return {errno, errno == EAGAIN};
    Bytes rest(buffer_.data(), static_cast<std::size_t>(size));
    while (const auto message = Message::next(rest)) {
        if (message->sequence != sequence_)
            continue;
        if (message->type == NLMSG_ERROR || message->type == NLMSG_DONE)
            return {answeredError(*message), true};
        handler(*message);
    }
    return {};
}

Socket::Outcome Socket::exchangeUntil(Request& request, const MessageVisitor& visitor) {
    const bool dumping = (request.message().nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (const int error = begin(request); error != 0)
        return {error, false};
    Outcome outcome;
    for (;;) {
        const auto size = mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return {errno, outcome.interrupted};
        Bytes rest(buffer_.data(), static_cast<std::size_t>(size));
        while (const auto message = Message::next(rest)) {
            if (message->sequence != sequence_)
                continue; // the rest of an answer that was given up
            outcome.interrupted |= (message->flags & NLM_F_DUMP_INTR) != 0;
            if (message->type == NLMSG_ERROR || message->type == NLMSG_DONE) {
                outcome.error = answeredError(*message);
                return outcome;
            }
            if (!visitor(*message) || !dumping)
                return outcome;
        }
    }
}

Socket::Outcome Socket::dump(Request& request, const std::function<void()>& restart,
                             const MessageHandler& handler) {
    Outcome outcome;
    for (int attempt = 0; attempt < dumpAttempts; ++attempt) {
        restart();
        outcome = exchange(request, handler);
        const bool again = outcome.interrupted || outcome.error == ENOBUFS || outcome.error == EINTR;
        if (!again)
            break;
    }
    return outcome;
}

Result<void> ask(int protocol, Request& request, const MessageVisitor& visitor) {
    auto socket = Socket::open(protocol);
    if (!socket)
        return std::unexpected(socket.error());
    const auto outcome = socket->exchangeUntil(request, visitor);
    if (outcome.error != 0 || outcome.interrupted)
        return failErrno(outcome.error != 0 ? outcome.error : EINTR, "the kernel refused a netlink request");
    return {};
}

Socket::Drained Socket::drain(const MessageHandler& handler) {
    Drained drained{.any = losing_, .lost = losing_};
    for (int reads = 0; reads < (losing_ ? discardReads : drainReads); ++reads) {
        const auto size = recv(fd(), buffer_.data(), buffer_.size(), MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            losing_ = false;
            return drained;
        }
        drained.any = true;
        // ENOBUFS: the queue was full and something was dropped. What is still queued is older than that.
        if (size <= 0 || static_cast<std::size_t>(size) > buffer_.size()) {
            losing_ = drained.lost = true;
            if (size < 0 && errno != ENOBUFS)
                break;
            continue;
        }
        if (losing_)
            continue;
        Bytes rest(buffer_.data(), static_cast<std::size_t>(size));
        while (const auto message = Message::next(rest))
            handler(*message);
    }
    drained.rest = true;
    return drained;
}

} // namespace tna::netlink
