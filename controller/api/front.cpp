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
constexpr std::size_t largestHead = std::size_t{16} * 1024;
/// Bodies on their way, of all connections together.
constexpr std::size_t mostBodies = std::size_t{16} * 1024 * 1024;
constexpr std::size_t lookerThreads = 3;
constexpr std::size_t keptThreads = 1; ///< for those who may change something
/// What is read of a body that is too large, so that who sends it comes to reading the refusal.
constexpr std::size_t mostDrained = std::size_t{64} * 1024 * 1024;
constexpr std::string_view goOn = "HTTP/1.1 100 Continue\r\n\r\n";
} // namespace

Front::Front(UniqueFd listening, UniqueFd wake, Answerer& answerer)
    : listening_(std::move(listening)), wake_(std::move(wake)), answerer_(answerer),
      lookerTurns_(lookerThreads, keptThreads), changerTurns_(1), lookers_(lookerThreads), changers_(1),
      thread_([this] { run(); }) {}

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

/// That somebody has hung up is told in any case.
short Front::awaited(const Connection& connection) {
    switch (connection.state) {
    case State::waiting:
    case State::answering:
        return 0;
    case State::sending:
        return POLLOUT;
    case State::streaming:
        return connection.out.empty() ? POLLIN : POLLIN | POLLOUT;
    case State::receiving:
    case State::draining:
        return POLLIN;
    }
    return 0;
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
        const bool settled =
            !connection.looks && (connection.state == State::waiting || connection.state == State::answering);
        watched.push_back({settled ? -1 : connection.fd.get(), awaited(connection), 0});
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
    boundAnswers();
    if (watched[1].revents != 0)
        acceptAll();
}

bool Front::serve(std::uint64_t id, Connection& connection, short events) {
    switch (connection.state) {
    case State::receiving:
        return events == 0 || receive(id, connection);
    case State::waiting:
    case State::answering:
        return (events & (POLLHUP | POLLERR)) == 0;
    case State::sending:
        return events == 0 || send(id, connection);
    case State::streaming:
        return sendLines(connection, events);
    case State::draining:
        return events == 0 || drain(connection);
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
        return ::send(connection.fd.get(), goOn.data(), goOn.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(goOn.size());
    }
    return true;
}

void Front::dispatch(std::uint64_t id, Connection& connection, std::size_t size, bool looks) {
    connection.request = connection.in.substr(0, size);
    connection.in.erase(0, size);
    reserved_ -= std::exchange(connection.reserved, 0);
    connection.continued = false;
    connection.looks = looks;
    connection.state = State::waiting;
    connection.deadline = Clock::time_point::max();
    turns(looks).wait(id, connection.peer.user, connection.mayChange);
    startWaiting(looks);
}

void Front::startWaiting(bool looks) {
    while (const auto id = turns(looks).next()) {
        auto& connection = connections_.at(*id); // who has gone does not wait
        connection.state = State::answering;
        (looks ? lookers_ : changers_)
            .enqueue([this, id = *id, looks, mayChange = connection.mayChange, peer = connection.peer,
                      request = std::exchange(connection.request, {})] {
                auto answer = answerer_.answer(peer, request);
                // The interim answer has been given when it was waited for.
                if (answer.bytes.starts_with(goOn))
                    answer.bytes.erase(0, goOn.size());
                const std::lock_guard lock{mutex_};
                answers_.push_back({id, looks, mayChange, std::move(answer)});
                wake();
            });
    }
}

void Front::takeAnswers() {
    std::vector<Answered> answers;
    {
        const std::lock_guard lock{mutex_};
        answers.swap(answers_);
    }
    for (auto& [id, looks, mayChange, answer] : answers) {
        turns(looks).done(mayChange);
        startWaiting(looks);
        const auto found = connections_.find(id);
        if (found == connections_.end()) {
            letGo(std::move(answer.stream.source));
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

/// The end of a source may wait for the network.
void Front::letGo(std::shared_ptr<void> source) {
    if (source)
        changers_.enqueue([source = std::move(source)]() mutable { source.reset(); });
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

bool Front::drain(Connection& connection) {
    char ignored[16384];
    const auto got = ::recv(connection.fd.get(), ignored, sizeof(ignored), 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    connection.drained += static_cast<std::size_t>(got);
    return connection.drained < mostDrained;
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
    auto& [id, gone] = *connection;
    reserved_ -= gone.reserved;
    if (gone.state == State::waiting)
        turns(gone.looks).leave(id, gone.peer.user, gone.mayChange);
    if (gone.stream.lines)
        gone.stream.lines->onLine({});
    letGo(std::exchange(gone.stream.source, nullptr));
    ::shutdown(gone.fd.get(), SHUT_RDWR);
    connections_.erase(connection);
}

} // namespace tna::api
