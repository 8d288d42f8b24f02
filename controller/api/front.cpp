// SPDX-License-Identifier: Apache-2.0
#include "api/front.hpp"

#include "api/framing.hpp"
#include "api/room.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace tna::api {

namespace {
constexpr std::size_t largestHead = std::size_t{16} * 1024;
/// Bodies on their way, of all connections together.
constexpr std::size_t mostBodies = std::size_t{16} * 1024 * 1024;
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

Front::Front(UniqueFd listening, UniqueFd wake, Answerer& answerer)
    : listening_(std::move(listening)), wake_(std::move(wake)), answerer_(answerer),
      answers_(answerer, [this] { this->wake(); }), thread_([this] { run(); }) {}

Result<std::unique_ptr<Front>> Front::start(UniqueFd listening, Answerer& answerer) {
    UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!wake)
        return failErrno(errno, "cannot make an eventfd for answers");
    try {
        return std::unique_ptr<Front>{new Front(std::move(listening), std::move(wake), answerer)};
    } catch (const std::exception& error) {
        return std::unexpected(Error{"cannot make threads for answers", error.what(),
                                     "raise the limits of memory and tasks (TasksMax= in the unit)"});
    }
}

Front::~Front() {
    stopping_ = true;
    wake();
    thread_.join();
}

void Front::wake() const {
    ::eventfd_write(wake_.get(), 1);
}

void Front::run() {
    while (!stopping_)
        wait();
    for (auto& [id, connection] : connections_)
        if (connection.stream.lines)
            connection.stream.lines->onLine({});
}

void Front::wait() {
    std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}};
    auto until = Clock::time_point::max();
    const bool resting = Clock::now() < acceptAgain_;
    watched.push_back({resting ? -1 : listening_.get(), POLLIN, 0});
    if (resting)
        until = acceptAgain_;
    std::vector<Connections::iterator> polled;
    for (auto it = connections_.begin(); it != connections_.end(); ++it) {
        const auto& connection = it->second;
        const bool settled = !connection.looks && connection.state == State::answering;
        watched.push_back({settled ? -1 : connection.fd.get(), connection.awaited(), 0});
        polled.push_back(it);
        until = std::min(until, connection.deadline);
    }
    timespec time{};
    const bool forever = until == Clock::time_point::max();
    if (!forever) {
        const auto left = std::max(until - Clock::now(), Clock::duration::zero());
        time.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        time.tv_nsec = (left % std::chrono::seconds(1)).count();
    }
    if (::ppoll(watched.data(), watched.size(), forever ? nullptr : &time, nullptr) < 0 && errno != EINTR) {
        spdlog::error("cannot wait for requests: {}", errnoText(errno));
        std::this_thread::sleep_for(rest);
        return;
    }
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);
    takeAnswers();
    const auto now = Clock::now();
    for (std::size_t i = 0; i < polled.size(); i++) {
        auto& [id, connection] = *polled[i];
        if (!serve(id, connection, watched[i + 2].revents) || connection.deadline <= now)
            drop(polled[i]);
    }
    for (auto goes = whoseAnswerGoes(connections_); goes != connections_.end();
         goes = whoseAnswerGoes(connections_))
        drop(goes);
    if (watched[1].revents != 0)
        acceptAll();
}

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
        if (!peer || !makeRoom(mayChange))
            continue;
        auto& connection = connections_[nextId_++];
        connection.fd = std::move(fd);
        connection.peer = std::move(*peer);
        connection.mayChange = mayChange;
        connection.since = Clock::now();
        connection.deadline = connection.since + patience;
    }
}

bool Front::makeRoom(bool mayChange) {
    if (hasRoom(connections_, mayChange))
        return true;
    const auto goes = whoGoesFor(connections_, mayChange);
    if (goes == connections_.end())
        return false;
    drop(goes);
    return true;
}

bool Front::serve(std::uint64_t id, Connection& connection, short events) {
    switch (connection.state) {
    case State::receiving:
        return events == 0 || receive(id, connection);
    case State::answering:
        return (events & (POLLHUP | POLLERR)) == 0;
    case State::sending:
        return events == 0 || send(id, connection);
    case State::streaming:
        return sendLines(connection, events);
    case State::draining:
        return events == 0 || connection.drain();
    }
    return false;
}

bool Front::receive(std::uint64_t id, Connection& connection) {
    const auto before = connection.in.size();
    if (!connection.pull())
        return false;
    if (connection.in.size() == before)
        return true;
    if (before == 0)
        connection.deadline = Clock::now() + patience;
    return advance(id, connection);
}

bool Front::advance(std::uint64_t id, Connection& connection) {
    const auto framing = framingOf(connection.in);
    if (!framing) {
        if (connection.in.size() > largestHead) {
            connection.closeAfterwards = true;
            dispatch(id, connection, connection.in.size(), true);
        }
        return true;
    }
    if (framing->body > answerer_.largestBody(connection.peer)) {
        connection.closeAfterwards = true;
        connection.refused = true;
        dispatch(id, connection, framing->head, true);
        return true;
    }
    const auto whole = framing->head + framing->body;
    if (connection.in.size() >= whole) {
        dispatch(id, connection, whole, framing->looks);
        return true;
    }
    if (connection.reserved == 0) {
        if (reserved_ + framing->body > mostBodies)
            return false;
        connection.reserved = framing->body;
        reserved_ += framing->body;
    }
    if (framing->awaitsContinue && !connection.continued) {
        connection.continued = true;
        return ::send(connection.fd.get(), interimAnswer.data(), interimAnswer.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(interimAnswer.size());
    }
    return true;
}

void Front::dispatch(std::uint64_t id, Connection& connection, std::size_t size, bool looks) {
    auto text = connection.in.substr(0, size);
    connection.in.erase(0, size);
    reserved_ -= std::exchange(connection.reserved, 0);
    connection.continued = false;
    connection.looks = looks;
    connection.state = State::answering;
    connection.deadline = Clock::time_point::max();
    answers_.ask(id, {connection.peer, connection.mayChange, looks, std::move(text)});
}

void Front::takeAnswers() {
    for (auto& [id, answer] : answers_.take()) {
        const auto found = connections_.find(id);
        if (found == connections_.end()) {
            answers_.destroy(std::move(answer.stream.source));
            continue;
        }
        auto& connection = found->second;
        connection.out = std::move(answer.bytes);
        connection.closeAfterwards |= answer.close;
        connection.stream = std::move(answer.stream);
        connection.state = State::sending;
        connection.deadline = Clock::now() + patience;
    }
}

bool Front::send(std::uint64_t id, Connection& connection) {
    if (!connection.push())
        return false;
    if (!connection.out.empty())
        return true;
    std::string{}.swap(connection.out); // with its memory
    if (connection.stream.lines) {
        connection.state = State::streaming;
        connection.deadline = Clock::time_point::max();
        connection.stream.lines->onLine([this] { wake(); });
        return sendLines(connection, 0);
    }
    // To hang up on somebody who is sending still would take the answer away.
    if (connection.refused) {
        connection.state = State::draining;
        connection.deadline = Clock::now() + patience;
        return ::shutdown(connection.fd.get(), SHUT_WR) == 0;
    }
    if (connection.closeAfterwards)
        return false;
    connection.state = State::receiving;
    connection.since = Clock::now();
    connection.deadline = connection.since + patience;
    return connection.in.empty() || advance(id, connection);
}

bool Front::sendLines(Connection& connection, short events) {
    if ((events & (POLLHUP | POLLERR)) != 0)
        return false;
    if ((events & POLLIN) != 0) { // there is nothing to be said, but to hang up
        char ignored[256];
        const auto got = ::recv(connection.fd.get(), ignored, sizeof(ignored), 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
    }
    if (connection.out.empty())
        connection.out = connection.stream.lines->take();
    if (connection.out.empty())
        return !connection.stream.lines->closed();
    const auto before = connection.out.size();
    if (!connection.push())
        return false;
    if (connection.out.empty())
        connection.deadline = Clock::time_point::max();
    else if (connection.out.size() < before || connection.deadline == Clock::time_point::max())
        connection.deadline = Clock::now() + patience;
    if (connection.out.empty() && (connection.stream.lines->waiting() || connection.stream.lines->closed()))
        wake();
    return true;
}

void Front::drop(Connections::iterator connection) {
    auto& [id, gone] = *connection;
    reserved_ -= gone.reserved;
    answers_.withdraw(id);
    if (gone.stream.lines)
        gone.stream.lines->onLine({});
    answers_.destroy(std::exchange(gone.stream.source, nullptr));
    ::shutdown(gone.fd.get(), SHUT_RDWR);
    connections_.erase(connection);
}

} // namespace tna::api
