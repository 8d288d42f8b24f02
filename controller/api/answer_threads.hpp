// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/answerer.hpp"
#include "api/turns.hpp"
#include "api/workers.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace tna::api {

/// Has requests answered, in turn, by threads of its own. Those that look are not kept waiting by those that
/// change something. Used from one thread.
class AnswerThreads {
public:
    /// `ready` is called, from any thread, when there is something to take(). Throws where there are no more
    /// threads to be had.
    AnswerThreads(Answerer& answerer, std::function<void()> ready);

    struct Request {
        Peer peer;
        bool mayChange = false; ///< who asks
        bool looks = true;      ///< what is asked changes nothing
        std::string text;
    };
    void ask(std::uint64_t id, Request request);
    /// Nobody waits for it any more: if it has not had its turn, it has none.
    void withdraw(std::uint64_t id);

    struct Answered {
        std::uint64_t id = 0;
        Answer answer;
    };
    /// What has been answered since it was taken last.
    [[nodiscard]] std::vector<Answered> take();
    /// Destroys the source of a stream, which may wait for the network.
    void destroy(std::shared_ptr<void> source);

private:
    struct Done {
        bool looks = true;
        bool mayChange = false;
        Answered answered;
    };
    [[nodiscard]] Turns& turns(bool looks) { return looks ? lookerTurns_ : changerTurns_; }
    void startWaiting(bool looks);

    Answerer& answerer_;
    std::function<void()> ready_;
    std::map<std::uint64_t, Request> waiting_;
    Turns lookerTurns_;
    Turns changerTurns_;
    std::mutex mutex_;
    std::vector<Done> done_;
    Workers lookers_; // they end before what they use
    Workers changers_;
};

} // namespace tna::api
