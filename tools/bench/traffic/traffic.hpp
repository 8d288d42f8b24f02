// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/results/histogram.hpp"
#include "bench/testbed/topology.hpp"
#include "bench/traffic/frame_writer.hpp"
#include "bench/traffic/generators/sender.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
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
    /// Sends frames from the calling thread, which must be in the generator's namespace and stay on its CPU.
    /// Until something is true, which is looked at after a signal at the latest.
    [[nodiscard]] Result<void> send(const std::atomic<bool>& stop) const;
    /// Sends a frame of each flow, from any namespace.
    [[nodiscard]] Result<void> sendOnce() const;
    /// Sends frames the other way, from the sink's device; from any namespace. Without a count, one of each
    /// flow, from which a switch learns.
    [[nodiscard]] Result<void> sendBack(unsigned count) const;
    [[nodiscard]] Result<void> sendBack() const;
    /// Sends a frame each time one is due, from now on; otherwise as send(). On one CPU only.
    [[nodiscard]] Result<void> sendPaced(double framesPerSecond, const std::atomic<bool>& stop) const;
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
    void forgetDates();
    /// What it has counted since the last time it was asked.
    [[nodiscard]] Histogram takeLatencies() const;
    /// Sends a frame of each flow (of the first 256) and size; compares what arrives, byte by byte, with what
    /// a bridge or router forwards, or with what was sent.
    [[nodiscard]] Result<void> verify(bool forwarded);
    /// Waits until nothing is under way any more.
    [[nodiscard]] Counters settle() const;
    /// Who sends.
    [[nodiscard]] Generator generator() const { return generator_; }
    /// What of the traffic is not as usual, and why; a sentence each.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
    /// The sink is at the topology's device, until it is put elsewhere.
    [[nodiscard]] Result<void> putSink(const NetNamespace& where, const std::string& device);
    /// Interfaces of this machine have room for one program each: those of others take turns.
    void detach();
    [[nodiscard]] Result<void> attach();
    /// Programs that only redirect: from d0 to d1, and back.
    [[nodiscard]] int ceilingProgram() const;
    [[nodiscard]] int ceilingBackProgram() const;
    [[nodiscard]] const Topology& topology() const { return topology_; }

private:
    Traffic(::traffic* skeleton, const Topology& topology, const Setup& setup)
        : skeleton_(skeleton), topology_(topology), flows_(setup.flows), queues_(setup.queues),
          frames_(framesOf(setup)), writer_(setup) {}
    [[nodiscard]] Result<void> chooseGenerator(const Setup& setup);
    [[nodiscard]] Result<void> nameDevices();
    [[nodiscard]] Result<UniqueFd> attachSink(const bpf_program* program, const std::string& device);
    [[nodiscard]] Result<void> sendFromHere(std::optional<double> rate, std::uint64_t count,
                                            const std::atomic<bool>& stop) const;
    [[nodiscard]] Result<std::unique_ptr<Sender>> makeSender(unsigned cpu) const;
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
    unsigned queues_;
    std::vector<Frames> frames_; ///< the last are the largest
    FrameWriter writer_;
    Generator generator_ = Generator::live;
    std::vector<std::string> remarks_;
    mutable std::unique_ptr<Sender> backSender_;
    UniqueFd sinkLink_;
    UniqueFd backLink_;
};

/// Attaches natively to a device of the calling thread's namespace, for as long as the result lives.
[[nodiscard]] Result<UniqueFd> attachXdp(int program, const std::string& device);

/// Where a single thread sends from: the first CPU has the machine's interrupts as well.
[[nodiscard]] unsigned lastCpu();
/// Pins the calling thread to a CPU.
void pinTo(unsigned cpu);

} // namespace tna::bench
