// SPDX-License-Identifier: Apache-2.0
#include "bench/scenario.hpp"

#include "bench/frame.hpp"

#include <fmt/format.h>

namespace tna::bench {

namespace {
/// The most pairs of stations that talk to each other.
constexpr unsigned mostStations = 100'000;
/// Destinations are scattered over as many addresses; routes divide them among themselves.
constexpr unsigned mostDestinations = 1U << scatterBits;
} // namespace

std::string problemWith(const Setup& setup) {
    const unsigned most = routes(setup.scenario) ? mostDestinations : mostStations;
    if (setup.flows == 0 || setup.flows > most)
        return fmt::format("--stations must be from 1 to {}", most);
    if (setup.routes == 0 || setup.routes > mostDestinations)
        return fmt::format("--routes must be from 1 to {}", mostDestinations);
    if (setup.routes > 1 && !routes(setup.scenario))
        return "--routes are of routers: choose one with --scenario";
    if (setup.frameSize < smallestFrame || setup.frameSize > largestFrame)
        return fmt::format("--size must be from {} to {} bytes", smallestFrame, largestFrame);
    return {};
}

} // namespace tna::bench
