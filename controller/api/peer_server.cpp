// SPDX-License-Identifier: Apache-2.0
#include "api/peer_server.hpp"

#include "base/unique_fd.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

namespace tna::api {

namespace {
using Clock = std::chrono::steady_clock;

/// How soon an idle connection notices that the server stops.
constexpr auto idleStep = std::chrono::milliseconds(50);

thread_local Peer peerOfThisThread;

bool ready(int fd, short events, Clock::time_point until) {
    pollfd watched{fd, events, 0};
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        const int found = ::poll(&watched, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (found >= 0 || errno != EINTR)
            return found > 0;
    }
}

/// Each request has a time to come, and each answer one to go, as a whole: the library's own stream has one
/// for each piece, and would be held by who sends a byte now and then.
class Connection : public httplib::Stream {
public:
    Connection(int fd, std::chrono::seconds toCome, std::chrono::seconds toGo)
        : fd_(fd), toCome_(toCome), toGo_(toGo) {}

    void beginRequest() {
        readBy_ = Clock::now() + toCome_;
        writeBy_.reset();
    }
    [[nodiscard]] bool is_readable() const override {
        return begin_ < end_ || ready(fd_, POLLIN, Clock::now() + idleStep);
    }
    [[nodiscard]] bool is_writable() const override {
        return ready(fd_, POLLOUT, writeBy_.value_or(Clock::now() + toGo_));
    }
    ssize_t read(char* to, std::size_t size) override {
        if (begin_ == end_) {
            if (!ready(fd_, POLLIN, readBy_))
                return -1;
            const auto got = ::recv(fd_, buffer_, sizeof(buffer_), 0);
            if (got <= 0)
                return got;
            begin_ = 0;
            end_ = static_cast<std::size_t>(got);
        }
        size = std::min(size, end_ - begin_);
        std::memcpy(to, buffer_ + begin_, size);
        begin_ += size;
        return static_cast<ssize_t>(size);
    }
    ssize_t write(const char* from, std::size_t size) override {
        if (!writeBy_)
            writeBy_ = Clock::now() + toGo_;
        return is_writable() ? ::send(fd_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    }
    void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
    void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
    [[nodiscard]] socket_t socket() const override { return fd_; }

private:
    int fd_;
    std::chrono::seconds toCome_;
    std::chrono::seconds toGo_;
    Clock::time_point readBy_;
    std::optional<Clock::time_point> writeBy_;
    char buffer_[4096];
    std::size_t begin_ = 0; ///< of what is in the buffer
    std::size_t end_ = 0;
};
} // namespace

const Peer& PeerServer::peer() {
    return peerOfThisThread;
}

bool PeerServer::awaitRequest(const httplib::Stream& connection) const {
    const auto until = Clock::now() + std::chrono::seconds(keep_alive_timeout_sec_);
    while (svr_sock_ != INVALID_SOCKET && Clock::now() < until)
        if (connection.is_readable())
            return true;
    return false;
}

bool PeerServer::process_and_close_socket(socket_t socket) {
    const UniqueFd fd{socket};
    auto peer = peerOf(fd.get());
    if (!peer) {
        spdlog::warn("{}", peer.error().sentence());
        return false;
    }
    peerOfThisThread = std::move(*peer);
    Connection connection{fd.get(), std::chrono::seconds(read_timeout_sec_),
                          std::chrono::seconds(write_timeout_sec_)};
    bool good = false;
    for (auto left = keep_alive_max_count_; left > 0 && awaitRequest(connection); left--) {
        connection.beginRequest();
        bool closed = false;
        good = process_request(connection, left == 1, closed, nullptr);
        if (!good || closed)
            break;
    }
    ::shutdown(fd.get(), SHUT_RDWR);
    return good;
}

} // namespace tna::api
