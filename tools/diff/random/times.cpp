// SPDX-License-Identifier: Apache-2.0
#include "diff/random/times.hpp"

#include "diff/random/packets.hpp"

#include <fmt/format.h>

namespace tna::diff {

namespace {
void add(std::vector<Step>& steps, std::vector<Packet> packets) {
    for (auto& packet : packets)
        steps.emplace_back(std::move(packet));
}

/// Stations that have been known for longer than they may be from now on, and speak just before: who has
/// spoken is not forgotten, whoever noticed it.
std::vector<Step> ageing(const Topology& topology, const std::string& bridge) {
    const auto packets = greetings(topology);
    std::vector<Step> steps;
    add(steps, packets);
    steps.emplace_back(Command{"sleep 3"});
    add(steps, packets);
    steps.emplace_back(Command{fmt::format("ip link set {} type bridge ageing_time 300", bridge)});
    add(steps, packets);
    steps.emplace_back(Command{fmt::format("ip link set {} type bridge ageing_time 6400000", bridge)});
    add(steps, introductions(topology));
    return steps;
}
} // namespace

std::vector<Step> times(Chance& chance, const Topology& topology) {
    const auto device = topology.devices.empty() ? "br0" : chance.oneOf(topology.devices);
    if (device.starts_with("br") && chance.once(2))
        return ageing(topology, device);
    // No neighbour is waited for: what is reachable, stale or to be asked gets its packets all the same.
    const auto setting =
        fmt::format("/proc/sys/net/{}/neigh/{}/{}", chance.oneOf({"ipv4", "ipv6"}), device,
                    chance.oneOf({"base_reachable_time_ms", "base_reachable_time_ms", "gc_stale_time"}));
    return {Command{fmt::format("echo {} > {}", chance.oneOf({"1", "10", "100000000"}), setting)}};
}

} // namespace tna::diff
