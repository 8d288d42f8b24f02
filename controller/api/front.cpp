// SPDX-License-Identifier: Apache-2.0
#include "api/front.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace tna::api {

namespace {
constexpr std::size_t mostConnections = 256;
constexpr std::size_t largestHead = std::size_t{16} * 1024;
/// Bodies on their way, of all connections together.
constexpr std::size_t mostBodies = std::size_t{16} * 1024 * 1024;
constexpr int acceptedAtOnce = 64;
constexpr std::size_t lookerThreads = 3;
/// For a request to come as a whole, and for a piece of an answer to go.
constexpr auto patience = std::chrono::seconds(5);
/// After accept() has failed, for want of descriptors or of memory.
constexpr auto rest = std::chrono::milliseconds(100);
constexpr std::string_view goOn = "HTTP/1.1 100 Continue\r\n\r\n";

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
    : listening_(std::move(listening)), wake_(std::move(wake)), answerer_(answerer), lookers_(lookerThreads),
      changers_(1), thread_([this] { run(); }) {}

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
        short events = POLLIN;
        if (connection.state == State::sending || !connection.out.empty())
            events = connection.state == State::streaming ? POLLIN | POLLOUT : POLLOUT;
        watched.push_back({connection.state == State::answering ? -1 : connection.fd.get(), events, 0});
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
        if (!peer || (connections_.size() >= mostConnections && !makeRoom()))
            continue;
        auto& connection = connections_[nextId_++];
        connection.fd = std::move(fd);
        connection.peer = std::move(*peer);
        connection.since = Clock::now();
        connection.deadline = connection.since + patience;
    }
}

/// Who has the most connections loses the one that has been waiting for longest.
bool Front::makeRoom() {
    const auto waits = [](const Connection& connection) {
        return connection.state == State::receiving || connection.state == State::sending;
    };
    std::map<uid_t, std::size_t> counts;
    for (const auto& [id, connection] : connections_)
        counts[connection.peer.user] += waits(connection) ? 1 : 0;
    const auto greedy = std::ranges::max_element(counts, {}, [](const auto& item) { return item.second; });
    auto found = connections_.end();
    for (auto it = connections_.begin(); it != connections_.end(); ++it)
        if (waits(it->second) && it->second.peer.user == greedy->first &&
            (found == connections_.end() || it->second.since < found->second.since))
            found = it;
    if (found == connections_.end())
        return false;
    drop(found);
    return true;
}

bool Front::serve(std::uint64_t id, Connection& connection, short events) {
    switch (connection.state) {
    case State::receiving:
        return events == 0 || receive(id, connection);
    case State::answering:
        return true;
    case State::sending:
        return events == 0 || send(id, connection);
    case State::streaming:
        return sendLines(connection, events);
    }
    return false;
}

bool Front::receive(std::uint64_t id, Connection& connection) {
    const bool first = connection.in.empty();
    char buffer[16384];
    const auto got = ::recv(connection.fd.get(), buffer, sizeof(buffer), 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    connection.in.append(buffer, static_cast<std::size_t>(got));
    if (first)
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
        connection.closeAfterwards = true; // nobody reads the body
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
        return ::send(connection.fd.get(), goOn.data(), goOn.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(goOn.size());
    }
    return true;
}

void Front::dispatch(std::uint64_t id, Connection& connection, std::size_t size, bool looks) {
    auto request = connection.in.substr(0, size);
    connection.in.erase(0, size);
    reserved_ -= std::exchange(connection.reserved, 0);
    connection.continued = false;
    connection.state = State::answering;
    connection.deadline = Clock::time_point::max();
    (looks ? lookers_ : changers_).enqueue([this, id, peer = connection.peer, request = std::move(request)] {
        auto answer = answerer_.answer(peer, request);
        // The interim answer has been given when it was waited for.
        if (answer.bytes.starts_with(goOn))
            answer.bytes.erase(0, goOn.size());
        const std::lock_guard lock{mutex_};
        answers_.emplace_back(id, std::move(answer));
        wake();
    });
}

void Front::takeAnswers() {
    std::vector<std::pair<std::uint64_t, Answer>> answers;
    {
        const std::lock_guard lock{mutex_};
        answers.swap(answers_);
    }
    for (auto& [id, answer] : answers) {
        auto& connection = connections_.at(id); // one that is being answered stays
        connection.out = std::move(answer.bytes);
        connection.closeAfterwards |= answer.close;
        connection.stream = std::move(answer.stream);
        connection.state = State::sending;
        connection.deadline = Clock::now() + patience;
    }
}

/// What the other side takes at once.
bool Front::push(Connection& connection) {
    const auto sent = ::send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    connection.out.erase(0, static_cast<std::size_t>(sent));
    return true;
}

bool Front::send(std::uint64_t id, Connection& connection) {
    if (!push(connection))
        return false;
    if (!connection.out.empty())
        return true;
    if (connection.stream.lines) {
        connection.state = State::streaming;
        connection.deadline = Clock::time_point::max();
        connection.stream.lines->onLine([this] { wake(); });
        return sendLines(connection, 0);
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
    if (!push(connection))
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
    reserved_ -= connection->second.reserved;
    auto& stream = connection->second.stream;
    if (stream.lines) {
        stream.lines->onLine({});
        // Its end may wait for the network.
        changers_.enqueue([source = std::exchange(stream.source, nullptr)]() mutable { source.reset(); });
    }
    ::shutdown(connection->second.fd.get(), SHUT_RDWR);
    connections_.erase(connection);
}

} // namespace tna::api
