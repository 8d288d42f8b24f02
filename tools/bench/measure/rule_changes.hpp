// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/scenario.hpp"

#include <atomic>
#include <thread>

namespace tna::bench {

/// Changes the firewall's rules again and again, in the network namespace that the calling thread is in,
/// until stopped.
class RuleChanges {
public:
    explicit RuleChanges(const Setup& setup);
    RuleChanges(const RuleChanges&) = delete;
    RuleChanges& operator=(const RuleChanges&) = delete;
    ~RuleChanges();

    /// Says how many there were, or why one failed.
    [[nodiscard]] Result<unsigned> stop();

private:
    void run(const Setup& setup);
    std::atomic<bool> stop_{false};
    unsigned done_ = 0;
    Result<void> outcome_;
    std::thread thread_;
};

} // namespace tna::bench
