// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/place.hpp"

#include <array>
#include <string_view>

namespace tna::bench {

struct Yardstick {
    std::string_view name;
    std::string_view words;
};

constexpr std::array<Yardstick, 4> yardsticks{{{"loop", "the prober alone: probes that never leave it"},
                                               {"xdp_echo", "sent back by XDP_TX, before any socket"},
                                               {"udp_echo", "ordinary sockets of UDP on both sides"},
                                               {"ping", "the system's ping"}}};

/// Why one cannot be measured here; empty if it can.
[[nodiscard]] std::string whyNotMeasured(std::string_view yardstick, Place& place);
/// In the thread of the prober.
[[nodiscard]] Result<Delays> measureYardstick(std::string_view name, Place& place, const Pace& pace,
                                              const std::function<bool()>& stop);
/// Round trips by AF_XDP sockets on both sides, as the settings say.
[[nodiscard]] Result<Delays> measureSettings(Place& place, Settings settings, const Pace& pace,
                                             const std::function<bool()>& stop);

/// Why busy polling has nothing to poll here, seen by sockets that have got frames; empty if it has.
[[nodiscard]] std::string whyNoBusyPolling(Place& place);

/// Times in the words of ping(8), in nanoseconds.
[[nodiscard]] std::vector<std::uint32_t> pingTimes(const std::string& output);

} // namespace tna::bench
