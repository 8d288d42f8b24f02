// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream_keeper.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
using Clock = std::chrono::steady_clock; // CLOCK_MONOTONIC
constexpr std::chrono::milliseconds pause{250};
constexpr int share = 20; ///< of the time, one part of so many may be worked
} // namespace

StreamKeeper::StreamKeeper(Kernel& kernel, const deploy::ConnectionLearner& learner)
    : kernel_(kernel), learner_(learner), thread_([this](const std::stop_token& stop) { run(stop); }) {}

StreamKeeper::~StreamKeeper() = default;

void StreamKeeper::run(const std::stop_token& stop) {
    Clock::duration wait = pause;
    std::unique_lock lock{mutex_};
    while (!stopped_.wait_for(lock, stop, wait, [&stop] { return stop.stop_requested(); })) {
        if (stop.stop_requested())
            break;
        const auto begun = Clock::now();
        const auto streams = learner_.streams();
        if (!streams.empty()) {
            make(book_.next(streams, begun.time_since_epoch(), introspect::readTcpTimeouts()));
            learner_.sweep();
        }
        wait = std::max<Clock::duration>(pause, share * (Clock::now() - begun));
    }
    // Nobody will tell Linux about them afterwards.
    make(book_.last(learner_.streams(), Clock::now().time_since_epoch(), introspect::readTcpTimeouts()));
}

/// Making many changes takes a while: meanwhile the same ends may have another connection.
bool StreamKeeper::isStillSo(const introspect::ConnectionChange& change) const {
    const auto now = learner_.stream(change.entry);
    return now && now->born == change.of.born && now->anew == 0 && (!change.closed || now->reset != 0);
}

void StreamKeeper::make(const std::vector<introspect::ConnectionChange>& changes) {
    for (const auto& change : changes) {
        if (!isStillSo(change))
            continue;
        if (const auto changed = kernel_.change(change); !changed && !std::exchange(complained_, true))
            spdlog::warn("{}; connections of TCP stay with Linux", changed.error().sentence());
    }
}

} // namespace tna::daemon
