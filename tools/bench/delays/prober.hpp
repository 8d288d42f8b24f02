// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/wire.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace tna::bench {

/// What probes look like: whose device sends them, and whose sends them back.
struct Ends {
    std::array<unsigned char, 6> prober{};
    std::array<unsigned char, 6> forwarder{};
};

struct Pace {
    double interval = 0; ///< seconds from one probe to the next; 0: each follows the answer to the one before
    double seconds = 0;
};

/// Round trips of one run.
struct Delays {
    std::vector<std::uint32_t> nanoseconds;
    std::uint64_t sent = 0;
    std::uint64_t wrong = 0; ///< that came back changed

    [[nodiscard]] std::uint64_t lost() const { return sent - nanoseconds.size() - wrong; }
};

/// Sends probes of 64 bytes, one at a time, from the calling thread. Each has the time when it was sent, so
/// that a late answer counts as late, not as lost.
[[nodiscard]] Result<Delays> probe(Wire& wire, const Ends& ends, const Pace& pace,
                                   const std::function<bool()>& stop);

/// What files keep of a run, in nanoseconds: all that is told of it, and its quantiles, per cent by per cent.
[[nodiscard]] nlohmann::json delaysDocument(Delays delays);

/// Cards lose their link for a while when they get a program or a socket: probes until the first answer,
/// which says nothing of delays. Whether there was one in time.
[[nodiscard]] Result<bool> awaitAnswer(Wire& wire, const Ends& ends, std::chrono::milliseconds longest,
                                       const std::function<bool()>& stop);

} // namespace tna::bench
