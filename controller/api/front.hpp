// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/answerer.hpp"
#include "api/framing.hpp"
#include "api/turns.hpp"
#include "api/workers.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

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
    using Clock = std::chrono::steady_clock;
    /// For a request to come as a whole, and for an answer to go.
    static constexpr auto patience = std::chrono::seconds(5);
    /// After accept() has failed, for want of descriptors or of memory.
    static constexpr auto rest = std::chrono::milliseconds(100);
    enum class State { receiving, waiting, answering, sending, streaming, draining };
    struct Connection {
        UniqueFd fd;
        Peer peer;
        bool mayChange = false;
        State state = State::receiving;
        Clock::time_point since;    ///< of the last answer, or of the beginning
        Clock::time_point deadline; ///< of what it waits for
        std::string in;
        std::string out;
        std::size_t reserved = 0; ///< of the room that all bodies share
        std::string request;      ///< while it waits for its turn
        bool looks = true;
        std::size_t drained = 0; ///< of a body that nobody reads
        bool closeAfterwards = false;
        bool refused = false; ///< because of its body, which may be on its way still
        bool continued = false;
        Stream stream;
    };
    using Connections = std::map<std::uint64_t, Connection>;

    Front(UniqueFd listening, UniqueFd wake, Answerer& answerer);
    void run();
    /// Until something happens, or a deadline passes.
    void wait();
    void acceptAll();
    [[nodiscard]] bool hasRoom(bool mayChange);
    [[nodiscard]] bool makeRoom(bool mayChange);
    /// What waits to be read is bounded, as what waits to be asked is.
    void boundAnswers();
    [[nodiscard]] static short awaited(const Connection& connection);
    /// False where the connection is at its end.
    [[nodiscard]] bool serve(std::uint64_t id, Connection& connection, short events);
    [[nodiscard]] bool receive(std::uint64_t id, Connection& connection);
    [[nodiscard]] bool advance(std::uint64_t id, Connection& connection);
    [[nodiscard]] bool send(std::uint64_t id, Connection& connection);
    [[nodiscard]] static bool drain(Connection& connection);
    [[nodiscard]] bool sendLines(Connection& connection, short events);
    [[nodiscard]] bool push(Connection& connection);
    void dispatch(std::uint64_t id, Connection& connection, std::size_t size, bool looks);
    [[nodiscard]] Turns& turns(bool looks) { return looks ? lookerTurns_ : changerTurns_; }
    void startWaiting(bool looks);
    void takeAnswers();
    void letGo(std::shared_ptr<void> source);
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
    std::mutex mutex_;
    struct Answered {
        std::uint64_t id;
        bool looks;
        bool mayChange;
        Answer answer;
    };
    std::vector<Answered> answers_;
    Turns lookerTurns_;
    Turns changerTurns_;
    Workers lookers_;
    Workers changers_;
    std::jthread thread_;
};

} // namespace tna::api
