// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/kernel.hpp"
#include "daemon/stream_book.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace tna::daemon {

/// Tells connection tracking what a StreamBook says, in a thread of its own, for as long as it lives.
class StreamKeeper {
public:
    /// Both must outlive it. In the network namespace of the calling thread.
    StreamKeeper(Kernel& kernel, const deploy::ConnectionLearner& learner);
    ~StreamKeeper();
    StreamKeeper(const StreamKeeper&) = delete;
    StreamKeeper& operator=(const StreamKeeper&) = delete;

private:
    void run(const std::stop_token& stop);
    void make(const std::vector<introspect::ConnectionChange>& changes);
    [[nodiscard]] bool isStillSo(const introspect::ConnectionChange& change) const;

    Kernel& kernel_;
    const deploy::ConnectionLearner& learner_;
    StreamBook book_;
    bool complained_ = false;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    std::jthread thread_; ///< goes first
};

} // namespace tna::daemon
