// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tna::bench {

/// What lies between the generator and the sink.
enum class Scenario {
    bridge,  ///< one bridge with two ports
    router,  ///< two ports with IPv4 addresses
    router6, ///< two ports with IPv6 addresses
    bridges, ///< two bridges with IPv4 addresses, a port each
};

constexpr std::array<std::string_view, 4> scenarioNames{"bridge", "router", "router6", "bridges"};

[[nodiscard]] constexpr std::string_view nameOf(Scenario scenario) {
    return scenarioNames.at(static_cast<std::size_t>(scenario));
}
/// Frames get other addresses and one hop less.
[[nodiscard]] constexpr bool routes(Scenario scenario) {
    return scenario != Scenario::bridge;
}

/// One scenario in full.
struct Setup {
    Scenario scenario = Scenario::bridge;
    unsigned flows = 1;  ///< pairs of stations that talk through a bridge; destinations behind a router
    unsigned routes = 1; ///< that lead there
    unsigned queues = 1; ///< of each device
    unsigned frameSize = 64;
};

/// What is wrong with it, in words of the command line; empty if nothing is.
[[nodiscard]] std::string problemWith(const Setup& setup);

} // namespace tna::bench
