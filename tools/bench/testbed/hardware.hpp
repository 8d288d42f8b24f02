// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <array>
#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace tna::bench {

/// What the processor's counters have counted.
struct Hardware {
    std::uint64_t cycles = 0;
    std::uint64_t instructions = 0;
    std::uint64_t cacheMisses = 0;

    [[nodiscard]] Hardware since(const Hardware& before) const {
        return {cycles - before.cycles, instructions - before.instructions, cacheMisses - before.cacheMisses};
    }
    Hardware& operator+=(const Hardware& other) {
        cycles += other.cycles;
        instructions += other.instructions;
        cacheMisses += other.cacheMisses;
        return *this;
    }
};

/// Kinds and numbers of perf events, in the order of Hardware.
struct PerfEvent {
    std::uint32_t type;
    std::uint64_t config;
};
using PerfEvents = std::array<PerfEvent, 3>;
extern const PerfEvents hardwareEvents;

/// Counts what threads do, and what the kernel does in their place.
class HardwareCounters {
public:
    /// Of threads; 0 is the calling one.
    [[nodiscard]] static Result<HardwareCounters> open(const std::vector<pid_t>& threads,
                                                       const PerfEvents& events = hardwareEvents);
    [[nodiscard]] Hardware read() const;

private:
    std::vector<std::array<UniqueFd, 3>> threads_;
};

/// Why this machine has no such counters; empty if it has.
[[nodiscard]] std::string whyNoHardwareCounters();
/// The threads that processes have now.
[[nodiscard]] std::vector<pid_t> threadsOf(const std::vector<pid_t>& processes);

} // namespace tna::bench
