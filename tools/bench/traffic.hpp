// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/frame.hpp"
#include "bench/histogram.hpp"
#include "bench/topology.hpp"

#include <algorithm>
#include <memory>

struct bpf_program;
struct traffic;

namespace tna::bench {

/// Frames since the programs were loaded, by the programs' own count.
struct Counters {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t wrong = 0; ///< received, but not as sent
    std::uint64_t late = 0;  ///< received after a later one
    std::uint64_t twice = 0; ///< received again
    std::uint64_t sentBack = 0;
    std::uint64_t receivedBack = 0;

    /// A frame that arrived twice does not stand for another that did not.
    [[nodiscard]] std::uint64_t lost() const {
        const auto arrived = received - std::min(received, twice);
        return sent > arrived ? sent - arrived : 0;
    }
    [[nodiscard]] Counters since(const Counters& before) const;
};

/// Generator (live frames through BPF_PROG_TEST_RUN), sink, and the ceiling programs.
class Traffic {
public:
    [[nodiscard]] static Result<std::unique_ptr<Traffic>> load(const Topology& topology, const Setup& setup);
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;
    ~Traffic();

    [[nodiscard]] Counters counters() const;
    /// Sends frames from the calling thread, which must be in the generator's namespace; a signal ends it.
    [[nodiscard]] Result<void> send(unsigned count) const;
    /// Sends frames the other way, from the sink's device; from any namespace. Without a count, one of each
    /// flow, from which a switch learns.
    [[nodiscard]] Result<void> sendBack(unsigned count) const;
    [[nodiscard]] Result<void> sendBack() const;
    /// Sends a frame each time one is due, from now on; otherwise as send(). On one CPU only.
    [[nodiscard]] Result<void> sendPaced(double framesPerSecond) const;
    /// From now on the sink counts how late frames are.
    [[nodiscard]] Result<void> watchLatency(bool on);
    /// What it has counted since the last time it was asked.
    [[nodiscard]] Histogram takeLatencies() const;
    /// Sends a frame of each flow (of the first 256) and size; compares what arrives, byte by byte, with what
    /// a bridge or router forwards, or with what was sent.
    [[nodiscard]] Result<void> verify(bool forwarded);
    /// Waits until nothing is under way any more.
    [[nodiscard]] Counters settle() const;
    /// The sink is at s0, until it is put elsewhere.
    [[nodiscard]] Result<void> putSink(const NetNamespace& where, const std::string& device);
    /// Programs that only redirect: from d0 to d1, and back.
    [[nodiscard]] int ceilingProgram() const;
    [[nodiscard]] int ceilingBackProgram() const;
    [[nodiscard]] const Topology& topology() const { return topology_; }

private:
    Traffic(::traffic* skeleton, const Topology& topology, const Setup& setup)
        : skeleton_(skeleton), topology_(topology), flows_(setup.flows), frames_(framesOf(setup)) {}
    void describeFrames(const Setup& setup);
    void expectFrames(bool forwarded);
    void forgetCounts();
    [[nodiscard]] Result<void> useSink(const bpf_program* program);
    [[nodiscard]] Result<void> run(const bpf_program* program, unsigned count, unsigned batch) const;
    [[nodiscard]] Result<void> sendPinned(unsigned cpu, unsigned count) const;
    [[nodiscard]] std::vector<Frame> kept() const;
    ::traffic* skeleton_;
    const Topology& topology_;
    unsigned flows_;
    std::vector<Frames> frames_; ///< the last are the largest
    UniqueFd sinkLink_;
    UniqueFd backLink_;
};

/// Attaches natively to a device of the calling thread's namespace, for as long as the result lives.
[[nodiscard]] Result<UniqueFd> attachXdp(int program, const std::string& device);

/// Pins the calling thread to a CPU.
void pinTo(unsigned cpu);

} // namespace tna::bench
