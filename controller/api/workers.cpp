// SPDX-License-Identifier: Apache-2.0
#include "api/workers.hpp"

#include <utility>

namespace tna::api {

Workers::Workers(std::size_t threads) {
    threads_.reserve(threads);
    while (threads_.size() < threads)
        threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

void Workers::enqueue(std::function<void()> task) {
    {
        const std::lock_guard lock{mutex_};
        tasks_.push(std::move(task));
    }
    changed_.notify_one();
}

void Workers::run(const std::stop_token& stop) {
    for (;;) {
        std::function<void()> task;
        {
            std::unique_lock lock{mutex_};
            if (!changed_.wait(lock, stop, [&] { return !tasks_.empty(); }))
                return;
            task = std::move(tasks_.front());
            tasks_.pop();
        }
        task();
    }
}

} // namespace tna::api
