// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/answer_threads.hpp"
#include "api/connection.hpp"
#include "base/error.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace tna::api {

/// The connections of a listening socket. One thread waits for all of them, so that whoever is idle or slow
/// keeps nobody waiting: others are busy only with requests that are there as a whole, and answers are sent
/// by the piece. Those that look are not kept waiting by those that change something, and nobody is by those
/// who may only look, however many there are and whatever they do.
class Front {
public:
    [[nodiscard]] static Result<std::unique_ptr<Front>> start(UniqueFd listening, Answerer& answerer);
    ~Front();
    Front(const Front&) = delete;
    Front& operator=(const Front&) = delete;

private:
    using Clock = Connection::Clock;
    using State = Connection::State;
    /// For a request to come as a whole, and for an answer to go.
    static constexpr auto patience = std::chrono::seconds(5);
    /// After accept() has failed, for want of descriptors or of memory.
    static constexpr auto rest = std::chrono::milliseconds(100);

    Front(UniqueFd listening, UniqueFd wake, Answerer& answerer);
    void run();
    /// Until something happens, or a deadline passes.
    void wait();
    void acceptAll();
    [[nodiscard]] bool makeRoom(bool mayChange);
    /// False where the connection is at its end.
    [[nodiscard]] bool serve(std::uint64_t id, Connection& connection, short events);
    [[nodiscard]] bool receive(std::uint64_t id, Connection& connection);
    [[nodiscard]] bool advance(std::uint64_t id, Connection& connection);
    [[nodiscard]] bool send(std::uint64_t id, Connection& connection);
    [[nodiscard]] bool sendLines(Connection& connection, short events);
    void dispatch(std::uint64_t id, Connection& connection, std::size_t size, bool looks);
    void takeAnswers();
    void drop(Connections::iterator connection);
    void wake() const;

    UniqueFd listening_;
    UniqueFd wake_;
    Answerer& answerer_;
    Connections connections_;
    std::uint64_t nextId_ = 0;
    std::size_t reserved_ = 0;
    Clock::time_point acceptAgain_; ///< after a failure
    std::atomic<bool> stopping_ = false;
    AnswerThreads answers_;
    std::jthread thread_;
};

} // namespace tna::api
