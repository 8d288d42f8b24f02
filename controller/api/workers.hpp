// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <queue>
#include <stop_token>
#include <thread>
#include <vector>

namespace tna::api {

/// Threads that do one task after the other; in the end, those that are left.
class Workers {
public:
    /// Throws where there are no more threads to be had.
    explicit Workers(std::size_t threads);
    void enqueue(std::function<void()> task);

private:
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::queue<std::function<void()>> tasks_;
    std::vector<std::jthread> threads_; // last: they end before what they use
};

} // namespace tna::api
