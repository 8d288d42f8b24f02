// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/topology.hpp"
#include "bench/traffic/traffic_sink.hpp"
#include "bench/traffic/traffic_source.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

/// The programs that send frames, count those that arrive, and are the ceiling; and the frames.
class Traffic {
public:
    [[nodiscard]] static Result<std::unique_ptr<Traffic>> load(const Topology& topology, const Setup& setup);
    Traffic(const Traffic&) = delete;
    Traffic& operator=(const Traffic&) = delete;
    ~Traffic();

    [[nodiscard]] const TrafficSource& source() const { return source_; }
    [[nodiscard]] TrafficSink& sink() { return sink_; }

    [[nodiscard]] Counters counters() const;
    /// Waits until nothing is under way any more.
    [[nodiscard]] Counters settle() const;
    /// Sends a frame of each flow (of the first 256) and size; compares what arrives, byte by byte, with what
    /// a bridge or router forwards, or with what was sent.
    [[nodiscard]] Result<void> verify(bool forwarded);
    /// What of the traffic is not as usual, and why; a sentence each.
    [[nodiscard]] std::vector<std::string> remarks() const;

    /// Programs that only redirect: from d0 to d1, and back.
    [[nodiscard]] int ceilingProgram() const;
    [[nodiscard]] int ceilingBackProgram() const;
    [[nodiscard]] const Topology& topology() const { return topology_; }

private:
    Traffic(::traffic* skeleton, const Topology& topology, const Setup& setup)
        : skeleton_(skeleton), topology_(topology), flows_(setup.flows), frames_(framesOf(setup)),
          source_(*skeleton, topology, setup), sink_(*skeleton, topology) {}
    void describeFrames(const Setup& setup);
    [[nodiscard]] Result<void> nameDevices();
    void expectFrames(bool forwarded);
    void forgetCounts();

    ::traffic* skeleton_;
    const Topology& topology_;
    unsigned flows_;
    std::vector<Frames> frames_; ///< the last are the largest
    TrafficSource source_;
    TrafficSink sink_;
};

} // namespace tna::bench
