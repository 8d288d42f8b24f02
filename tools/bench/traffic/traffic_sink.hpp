// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/results/histogram.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/testbed/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

struct bpf_program;
struct traffic;

namespace tna::bench {

/// Where the frames arrive: programs at the sink's device, which count them, and at the generator's for those
/// that come back.
class TrafficSink {
public:
    /// What is passed must outlive it.
    TrafficSink(::traffic& skeleton, const Topology& topology) : skeleton_(skeleton), topology_(topology) {}

    /// Interfaces of this machine have room for one program each: those of others take turns.
    [[nodiscard]] Result<void> attach();
    void detach();
    /// The sink is at the topology's device, until it is put elsewhere.
    [[nodiscard]] Result<void> put(const NetNamespace& where, const std::string& device);

    /// What the sink does besides counting.
    enum class Watch {
        nothing,
        latency,    ///< how late frames are
        roundTrips, ///< it sends them back, and the generator's side sees how late they are
        dates, ///< when those were sent that arrive; sendPaced() writes that instead of when they were due
    };
    [[nodiscard]] Result<void> watch(Watch what);
    /// When the first and the last frame were sent that have arrived since dates were forgotten; 0 for none.
    /// By the clock of CLOCK_MONOTONIC, in nanoseconds.
    struct Dates {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    [[nodiscard]] Dates dates() const;
    void forgetDates() const;
    /// What it has counted since the last time it was asked.
    [[nodiscard]] Histogram takeLatencies() const;

    /// Keeps frames as they arrive, as many as there is room for, from now on; and only counts again.
    [[nodiscard]] Result<void> keep();
    [[nodiscard]] Result<void> count();
    [[nodiscard]] std::size_t keptCount() const;
    [[nodiscard]] std::vector<Frame> kept() const;

    /// What is not as usual, and why; a sentence each.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

private:
    [[nodiscard]] Result<UniqueFd> attachTo(const bpf_program* program, const std::string& device);
    [[nodiscard]] Result<void> use(const bpf_program* program);

    ::traffic& skeleton_;
    const Topology& topology_;
    UniqueFd link_;
    UniqueFd backLink_;
    std::vector<std::string> remarks_;
};

/// Attaches natively to a device of the calling thread's namespace, for as long as the result lives.
[[nodiscard]] Result<UniqueFd> attachXdp(int program, const std::string& device);

} // namespace tna::bench
