// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/topology.hpp"
#include "bench/traffic/frame_writer.hpp"
#include "bench/traffic/generators/sender.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct bpf_program;
struct traffic;

namespace tna::bench {

/// Who sends: the kernel, live frames through BPF_PROG_TEST_RUN, or this program, by a socket.
class TrafficSource {
public:
    /// What is passed by reference must outlive it.
    TrafficSource(::traffic& skeleton, const Topology& topology, const Setup& setup);

    /// Whom the setup names, or who can. In the generator's namespace, with the sinks attached: some drivers
    /// take redirected frames only then.
    [[nodiscard]] Result<void> choose(const Setup& setup);
    /// Sends frames from the calling thread, which must be in the generator's namespace and stay on its CPU.
    /// Until something is true, which is looked at after a signal at the latest.
    [[nodiscard]] Result<void> send(const std::atomic<bool>& stop) const;
    /// Sends a frame of each flow, from any namespace.
    [[nodiscard]] Result<void> sendOnce() const;
    /// Sends frames from one CPU, from any namespace.
    [[nodiscard]] Result<void> sendPinned(unsigned cpu, unsigned count) const;
    /// Sends frames the other way, from the sink's device; from any namespace. Without a count, one of each
    /// flow, from which a switch learns.
    [[nodiscard]] Result<void> sendBack(unsigned count) const;
    [[nodiscard]] Result<void> sendBack() const;
    /// Sends a frame each time one is due, from now on; otherwise as send(). On one CPU only.
    [[nodiscard]] Result<void> sendPaced(double framesPerSecond, const std::atomic<bool>& stop) const;

    /// What is not as usual, and why; a sentence each.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

private:
    [[nodiscard]] Result<void> run(const bpf_program* program, unsigned count, unsigned batch) const;
    [[nodiscard]] Result<std::unique_ptr<Sender>> makeSender(unsigned cpu) const;
    [[nodiscard]] Result<void> sendFromHere(std::optional<double> rate, std::uint64_t count,
                                            const std::atomic<bool>& stop) const;

    ::traffic& skeleton_;
    const Topology& topology_;
    unsigned flows_;
    unsigned queues_;
    Frame whole_; ///< of the largest size
    FrameWriter writer_;
    Generator generator_ = Generator::live;
    std::vector<std::string> remarks_;
    mutable std::unique_ptr<Sender> backSender_;
};

/// Where a single thread sends from: the first CPU has the machine's interrupts as well.
[[nodiscard]] unsigned lastCpu();
/// Pins the calling thread to a CPU.
void pinTo(unsigned cpu);

} // namespace tna::bench
