// SPDX-License-Identifier: Apache-2.0
#include "api/connection.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace tna::api {

namespace {
constexpr std::size_t mostDrained = std::size_t{64} * 1024 * 1024;
} // namespace

short Connection::awaited() const {
    switch (state) {
    case State::answering:
        return 0;
    case State::sending:
        return POLLOUT;
    case State::streaming:
        return out.empty() ? POLLIN : POLLIN | POLLOUT;
    case State::receiving:
    case State::draining:
        return POLLIN;
    }
    return 0;
}

bool Connection::pull() {
    char buffer[16384];
    const auto got = ::recv(fd.get(), buffer, sizeof(buffer), 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    in.append(buffer, static_cast<std::size_t>(got));
    return true;
}

bool Connection::push() {
    const auto sent = ::send(fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    out.erase(0, static_cast<std::size_t>(sent));
    return true;
}

bool Connection::drain() {
    char ignored[16384];
    const auto got = ::recv(fd.get(), ignored, sizeof(ignored), 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    drained += static_cast<std::size_t>(got);
    return drained < mostDrained;
}

} // namespace tna::api
