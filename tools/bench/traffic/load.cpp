// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/load.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace tna::bench {

namespace {
double threadCpuSeconds(std::thread& thread) {
    clockid_t clock{};
    timespec time{};
    if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// With all CPUs, the first handles the machine's interrupts as well; with fewer, it is left out.
unsigned cpuOf(unsigned sender, unsigned cpus) {
    const unsigned present = std::max(1U, std::thread::hardware_concurrency());
    return cpus < present ? present - 1 - sender : sender;
}
} // namespace

Load::Load(const Traffic& traffic, unsigned cpus, unsigned reverse)
    : Load(traffic, cpus, reverse,
           [&traffic](const std::atomic<bool>& stop) { return traffic.source().send(stop); }) {}

std::unique_ptr<Load> Load::paced(const Traffic& traffic, double rate, unsigned reverse) {
    return std::unique_ptr<Load>{
        new Load(traffic, 1, reverse, [&traffic, rate](const std::atomic<bool>& stop) {
            return traffic.source().sendPaced(rate, stop);
        })};
}

Load::Load(const Traffic& traffic, unsigned cpus, unsigned reverse, Send send)
    : traffic_(traffic), send_(std::move(send)) {
    // The handler does nothing: the signal is to end a system call.
    struct sigaction wake{};
    wake.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &wake, nullptr);
    for (unsigned sender = 0; sender < cpus; sender++) {
        senders_.push_back(std::make_unique<Sender>());
        auto& own = *senders_.back();
        own.thread = std::thread([this, &own, cpu = cpuOf(sender, cpus)] {
            own.id = ::gettid();
            run(cpu);
            own.done = true;
        });
    }
    if (reverse != 0)
        answers_ = std::thread([this, reverse] { answer(reverse); });
}

Load::~Load() {
    [[maybe_unused]] const auto stopped = stop();
}

void Load::run(unsigned cpu) {
    pinTo(cpu);
    auto result = traffic_.topology().generator().enter();
    if (result)
        result = send_(stop_);
    note(std::move(result));
}

/// A few at a time: they are to keep what learns warm, and to take little of the processors.
void Load::answer(unsigned rate) {
    constexpr auto tick = std::chrono::milliseconds(2);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t sent = 0;
    Result<void> result;
    while (result && !stop_) {
        const auto passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto due = static_cast<std::uint64_t>(passed * rate);
        if (due > sent)
            result = traffic_.source().sendBack(static_cast<unsigned>(due - sent));
        sent = std::max(sent, due);
        std::this_thread::sleep_for(tick);
    }
    note(std::move(result));
}

void Load::note(Result<void> result) {
    const std::lock_guard lock{mutex_};
    if (!result)
        outcome_ = std::move(result);
}

double Load::cpuSeconds() {
    double sum = 0;
    for (const auto& sender : senders_)
        if (sender->thread.joinable())
            sum += threadCpuSeconds(sender->thread);
    return sum;
}

std::optional<Hardware> Load::hardware() {
    if (!counters_) {
        std::vector<pid_t> threads;
        for (const auto& sender : senders_) {
            while (sender->id == 0)
                std::this_thread::yield();
            threads.push_back(sender->id);
        }
        auto opened = HardwareCounters::open(threads);
        if (!opened)
            return {};
        counters_.emplace(std::move(*opened));
    }
    return counters_->read();
}

Result<void> Load::stop() {
    stop_ = true;
    if (answers_.joinable())
        answers_.join();
    for (const auto& sender : senders_) {
        // Again and again: the first signal may come before the system call does.
        while (!sender->done) {
            ::pthread_kill(sender->thread.native_handle(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (sender->thread.joinable())
            sender->thread.join();
    }
    const std::lock_guard lock{mutex_};
    return outcome_;
}

} // namespace tna::bench
