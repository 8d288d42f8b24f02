// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_ports.hpp"

#include <algorithm>

namespace tna::daemon {

namespace {
std::map<std::string, unsigned> thoseThere(const std::vector<std::string>& names,
                                           const model::Network& network) {
    std::map<std::string, unsigned> found;
    for (const auto& [ifindex, link] : network.links)
        if (std::ranges::find(names, link.name) != names.end())
            found.emplace(link.name, ifindex);
    return found;
}

/// What there is against steering frames of a port.
std::optional<Error> obstacleAt(unsigned ifindex, const std::string& name, const model::Network& network,
                                const assemble::Plan& plan) {
    const auto refused = [&](std::string why, std::string hint) {
        return Error{fmt::format("no frames of {} can be steered", name), std::move(why), std::move(hint)};
    };
    // What the card has taken out of a frame, nobody could put back into it.
    if (const auto* link = network.link(ifindex);
        link != nullptr && link->kind != "veth" && (link->vlanRxOffload || link->serviceTagRxOffload))
        return refused("it takes VLAN tags out of frames before XDP sees them",
                       fmt::format("`ethtool -K {} rxvlan off rx-vlan-stag-hw-parse off`", name));
    const auto it = plan.ports.find(ifindex);
    if (it == plan.ports.end())
        return std::nullopt;
    const auto& port = it->second;
    if (port.hook != assemble::Hook::xdp && !port.wouldMove)
        return refused(
            "it is accelerated at tcx, and steering is done at XDP",
            "take its name out of 'tcx' under [ports] in the configuration, if it is there; bonds and "
            "the like can be nowhere else");
    if (const auto foreign = std::ranges::find(port.reasons, "foreign-xdp", &assemble::Reason::code);
        foreign != port.reasons.end())
        return refused(foreign->text, foreign->hint);
    return std::nullopt;
}
} // namespace

FunctionPorts functionPorts(const std::vector<std::string>& names, const model::Network& network,
                            const assemble::Plan& plan) {
    FunctionPorts ports;
    for (const auto& [name, ifindex] : thoseThere(names, network))
        if (const auto against = obstacleAt(ifindex, name, network, plan))
            ports.against.emplace(name, against->sentence());
        else
            ports.usable.emplace(name, ifindex);
    return ports;
}

std::optional<Error> whyNotSteered(const std::vector<std::string>& names, const model::Network& network,
                                   const assemble::Plan& plan) {
    for (const auto& [name, ifindex] : thoseThere(names, network))
        if (auto against = obstacleAt(ifindex, name, network, plan))
            return against;
    return std::nullopt;
}

} // namespace tna::daemon
