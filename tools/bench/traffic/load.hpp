// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/hardware.hpp"
#include "bench/traffic/traffic.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tna::bench {

/// As many frames as can be from one thread on each of some CPUs, or frames at a fixed rate, until stopped.
/// Everything up to the sink runs in these threads, or in the kernel's threads of the same CPUs.
class Load {
public:
    /// `reverse`: frames per second that come back meanwhile.
    Load(const Traffic& traffic, unsigned cpus, unsigned reverse = 0);
    /// Frames per second, from one CPU.
    [[nodiscard]] static std::unique_ptr<Load> paced(const Traffic& traffic, double rate,
                                                     unsigned reverse = 0);
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;
    ~Load();

    /// Ends the threads; says why one could not send.
    [[nodiscard]] Result<void> stop();
    /// Processor time of the threads so far.
    [[nodiscard]] double cpuSeconds();
    /// What the processors' counters have counted in them so far; nothing where there are none.
    [[nodiscard]] std::optional<Hardware> hardware();

private:
    struct Sender {
        std::thread thread;
        std::atomic<bool> done{false};
        std::atomic<pid_t> id{0};
    };
    using Send = std::function<Result<void>(const std::atomic<bool>& stop)>;
    Load(const Traffic& traffic, unsigned cpus, unsigned reverse, Send send);
    void run(unsigned cpu);
    void answer(unsigned rate);
    void note(Result<void> result);
    const Traffic& traffic_;
    Send send_;
    std::atomic<bool> stop_{false};
    std::vector<std::unique_ptr<Sender>> senders_;
    std::thread answers_;
    std::optional<HardwareCounters> counters_;
    std::mutex mutex_;
    Result<void> outcome_;
};

} // namespace tna::bench
