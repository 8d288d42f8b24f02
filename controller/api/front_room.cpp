// SPDX-License-Identifier: Apache-2.0
// Who comes in, and who has to go where there is no room for all.
#include "api/front.hpp"

#include <algorithm>
#include <cerrno>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <tuple>

namespace tna::api {

namespace {
constexpr std::size_t mostConnections = 256;
/// Of them, for those who may change something.
constexpr std::size_t keptConnections = 64;
/// Answers that wait to be read, of all connections together.
constexpr std::size_t mostAnswers = std::size_t{32} * 1024 * 1024;
constexpr int acceptedAtOnce = 64;

/// Nobody, where the kernel does not know who it is.
std::optional<Peer> whoIs(int fd) {
    int domain = 0;
    socklen_t size = sizeof(domain);
    if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX)
        return Peer{};
    auto peer = peerOf(fd);
    if (peer)
        return std::move(*peer);
    spdlog::warn("{}", peer.error().sentence());
    return std::nullopt;
}
} // namespace

void Front::acceptAll() {
    for (int i = 0; i < acceptedAtOnce; i++) {
        UniqueFd fd{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (!fd) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                acceptAgain_ = Clock::now() + rest;
            return;
        }
        auto peer = whoIs(fd.get());
        const bool mayChange = peer && answerer_.mayChange(*peer);
        if (!peer || (!hasRoom(mayChange) && !makeRoom(mayChange)))
            continue;
        auto& connection = connections_[nextId_++];
        connection.fd = std::move(fd);
        connection.peer = std::move(*peer);
        connection.mayChange = mayChange;
        connection.since = Clock::now();
        connection.deadline = connection.since + patience;
    }
}

bool Front::hasRoom(bool mayChange) {
    const auto lookers =
        std::ranges::count_if(connections_, [](const auto& item) { return !item.second.mayChange; });
    return connections_.size() < mostConnections &&
           (mayChange || static_cast<std::size_t>(lookers) < mostConnections - keptConnections);
}

/// Who has the most connections loses the one that has been waiting for longest: of those who may only look,
/// if it is one of them who comes. What was asked for is done, if it changes something.
bool Front::makeRoom(bool mayChange) {
    const auto mayGo = [&](const Connection& connection) {
        const bool asked = connection.state == State::waiting || connection.state == State::answering;
        return (mayChange || !connection.mayChange) && connection.state != State::streaming &&
               (!asked || connection.looks || !connection.mayChange);
    };
    std::map<uid_t, std::size_t> counts;
    for (const auto& [id, connection] : connections_)
        counts[connection.peer.user]++;
    auto found = connections_.end();
    const auto rank = [&](const Connection& connection) {
        return std::pair{counts[connection.peer.user], -connection.since.time_since_epoch()};
    };
    for (auto it = connections_.begin(); it != connections_.end(); ++it)
        if (mayGo(it->second) && (found == connections_.end() || rank(found->second) < rank(it->second)))
            found = it;
    if (found == connections_.end())
        return false;
    drop(found);
    return true;
}

/// Who has the most waiting loses the answer that has been waiting for longest: none of those who may change
/// something as long as others have any. A single one may be as long as it is.
void Front::boundAnswers() {
    for (;;) {
        std::size_t all = 0;
        std::size_t count = 0;
        std::map<uid_t, std::size_t> sizes;
        for (const auto& [id, connection] : connections_)
            if (connection.state == State::sending) {
                sizes[connection.peer.user] += connection.out.capacity();
                all += connection.out.capacity();
                count++;
            }
        if (all <= mostAnswers || count <= 1)
            return;
        auto found = connections_.end();
        const auto rank = [&](const Connection& connection) {
            return std::tuple{connection.state == State::sending, !connection.mayChange,
                              sizes[connection.peer.user], -connection.deadline.time_since_epoch()};
        };
        for (auto it = connections_.begin(); it != connections_.end(); ++it)
            if (found == connections_.end() || rank(found->second) < rank(it->second))
                found = it;
        drop(found);
    }
}

} // namespace tna::api
