// SPDX-License-Identifier: Apache-2.0
#include "api/room.hpp"

#include <algorithm>
#include <tuple>

namespace tna::api {

namespace {
using State = Connection::State;
constexpr std::size_t mostConnections = 256;
/// Of them, for those who may change something.
constexpr std::size_t keptConnections = 64;
/// Answers that wait to be read, of all connections together.
constexpr std::size_t mostAnswers = std::size_t{32} * 1024 * 1024;
} // namespace

bool hasRoom(const Connections& connections, bool mayChange) {
    const auto lookers =
        std::ranges::count_if(connections, [](const auto& item) { return !item.second.mayChange; });
    return connections.size() < mostConnections &&
           (mayChange || static_cast<std::size_t>(lookers) < mostConnections - keptConnections);
}

/// Who has the most connections loses the one that has been waiting for longest: of those who may only look,
/// if it is one of them who comes. What was asked for is done, if it changes something.
Connections::iterator whoGoesFor(Connections& connections, bool mayChange) {
    const auto mayGo = [&](const Connection& connection) {
        return (mayChange || !connection.mayChange) && connection.state != State::streaming &&
               (connection.state != State::answering || connection.looks || !connection.mayChange);
    };
    std::map<uid_t, std::size_t> counts;
    for (const auto& [id, connection] : connections)
        counts[connection.peer.user]++;
    auto found = connections.end();
    const auto rank = [&](const Connection& connection) {
        return std::pair{counts[connection.peer.user], -connection.since.time_since_epoch()};
    };
    for (auto it = connections.begin(); it != connections.end(); ++it)
        if (mayGo(it->second) && (found == connections.end() || rank(found->second) < rank(it->second)))
            found = it;
    return found;
}

/// Who has the most waiting loses the answer that has been waiting for longest: none of those who may change
/// something as long as others have any. A single one may be as long as it is.
Connections::iterator whoseAnswerGoes(Connections& connections) {
    std::size_t all = 0;
    std::size_t count = 0;
    std::map<uid_t, std::size_t> sizes;
    for (const auto& [id, connection] : connections)
        if (connection.state == State::sending) {
            sizes[connection.peer.user] += connection.out.capacity();
            all += connection.out.capacity();
            count++;
        }
    auto found = connections.end();
    if (all <= mostAnswers || count <= 1)
        return found;
    const auto rank = [&](const Connection& connection) {
        return std::tuple{connection.state == State::sending, !connection.mayChange,
                          sizes[connection.peer.user], -connection.deadline.time_since_epoch()};
    };
    for (auto it = connections.begin(); it != connections.end(); ++it)
        if (found == connections.end() || rank(found->second) < rank(it->second))
            found = it;
    return found;
}

} // namespace tna::api
