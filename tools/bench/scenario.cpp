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
constexpr unsigned mostReverse = 1'000'000;
constexpr unsigned lastVlan = 4094;

std::string problemWithFrames(const Setup& setup) {
    if (setup.frameSize != imix && (setup.frameSize < smallestFrame || setup.frameSize > largestFrame))
        return fmt::format("--size must be from {} to {} bytes, or imix", smallestFrame, largestFrame);
    if (setup.vlan > lastVlan)
        return fmt::format("--vlan must be from 1 to {}", lastVlan);
    if (setup.vlan != 0 && routes(setup.scenario))
        return "--vlan tags are of bridges: leave out --scenario";
    if (setup.vlanFiltering && setup.vlan == 0)
        return "--vlan-filtering needs the VLAN of the frames: --vlan";
    if (setup.reverse > mostReverse)
        return fmt::format("--reverse must be up to {}", mostReverse);
    const auto least = framesOf(setup).front().smallestMarked();
    if (sizesOf(setup).front() < least)
        return fmt::format("a mark does not fit into {} bytes: choose a --size of {} or more",
                           sizesOf(setup).front(), least);
    return {};
}
} // namespace

std::string problemWith(const Setup& setup) {
    const unsigned most = routes(setup.scenario) ? mostDestinations : mostStations;
    if (setup.flows == 0 || setup.flows > most)
        return fmt::format("--stations must be from 1 to {}", most);
    if (setup.routes == 0 || setup.routes > mostDestinations)
        return fmt::format("--routes must be from 1 to {}", mostDestinations);
    if (setup.routes > 1 && !routes(setup.scenario))
        return "--routes are of routers: choose one with --scenario";
    return problemWithFrames(setup);
}

std::string framesText(const Setup& setup) {
    auto text = setup.frameSize == imix ? "IMIX" : fmt::format("{} byte", setup.frameSize);
    if (setup.protocol == Protocol::tcp)
        text += " TCP";
    text += " frames";
    if (setup.vlan != 0)
        text +=
            fmt::format(" of VLAN {}{}", setup.vlan, setup.vlanFiltering ? ", filtered by the bridge" : "");
    if (setup.reverse != 0)
        text += fmt::format(", {} per second back", setup.reverse);
    return text;
}

std::vector<unsigned> sizesOf(const Setup& setup) {
    return setup.frameSize == imix ? std::vector<unsigned>{imixSizes.begin(), imixSizes.end()}
                                   : std::vector{setup.frameSize};
}

} // namespace tna::bench
