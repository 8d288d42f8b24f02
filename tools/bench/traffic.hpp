// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/topology.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

struct traffic;

namespace tna::bench {

/// One measurement in steady state.
struct Sample {
    double seconds = 0;
    std::uint64_t generated = 0;
    std::uint64_t received = 0;
    std::uint64_t wrong = 0; ///< received, but not as sent
    double cpuSeconds = 0;   ///< of the generator's threads, in which everything runs

    [[nodiscard]] double mpps() const {
        return seconds > 0 ? static_cast<double>(received) / seconds / 1e6 : 0;
    }
    [[nodiscard]] double nsPerFrame() const {
        return received > 0 ? cpuSeconds * 1e9 / static_cast<double>(received) : 0;
    }
};

/// Generator (live frames through BPF_PROG_TEST_RUN), sink, and the ceiling program.
class Traffic {
public:
    [[nodiscard]] static Result<std::unique_ptr<Traffic>> load(const BridgeTopology& topology, unsigned flows,
                                                               unsigned frameSize);
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;
    ~Traffic();

    /// Offers as much as `cpus` threads can, one pinned to each CPU.
    [[nodiscard]] Result<Sample> measure(unsigned cpus, double warmUp, double duration);
    /// Sends `count` frames; says how many arrived whole.
    [[nodiscard]] Result<Sample> check(unsigned count);
    /// The program that only redirects to d1.
    [[nodiscard]] int ceilingProgram() const;

private:
    Traffic(::traffic* skeleton, const BridgeTopology& topology, unsigned frameSize)
        : skeleton_(skeleton), topology_(topology), frameSize_(frameSize) {}
    [[nodiscard]] Result<void> attachSink();
    void generate(unsigned cpu, const std::atomic<bool>& stop) const;
    [[nodiscard]] Sample counters() const;
    ::traffic* skeleton_;
    const BridgeTopology& topology_;
    unsigned frameSize_;
    UniqueFd sinkLink_;
};

/// Attaches natively to a device of the calling thread's namespace, for as long as the result lives.
[[nodiscard]] Result<UniqueFd> attachXdp(int program, const std::string& device);

} // namespace tna::bench
