// SPDX-License-Identifier: Apache-2.0
#include "capability/vlan_proof.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::capability {

namespace {
constexpr unsigned untaggedFlag = 1U << 2U; // BRIDGE_VLAN_INFO_UNTAGGED

/// VLANs compared on one port; there may be 4094 of them.
constexpr std::size_t mostVlans = 64;

std::string compareVlan(InPlaceReader& reader, const model::Link& link, const model::BridgeVlan& vlan) {
    const auto facts = reader.readVlan(link.ifindex, vlan.vid);
    if (!facts)
        return facts.error().sentence();
    if (!facts->found)
        return fmt::format("VLAN {} of port {} is not found in place", vlan.vid, link.name);
    if (((facts->flags & untaggedFlag) != 0) != vlan.untagged ||
        facts->state != static_cast<unsigned>(vlan.state))
        return fmt::format("VLAN {} of port {} reads differently in place", vlan.vid, link.name);
    return {};
}

/// One that the port has no part in; 0 if there is none.
std::uint16_t absentVlan(const std::vector<model::BridgeVlan>& vlans) {
    for (std::uint16_t vid = 1; vid < 4095; vid++)
        if (std::ranges::none_of(vlans, [&](const auto& vlan) { return vlan.vid == vid; }))
            return vid;
    return 0;
}

std::string comparePort(InPlaceReader& reader, const model::Link& link, const model::BridgeOptions& bridge) {
    const auto& vlans = link.bridgePort->vlans;
    const auto pvid = std::ranges::find_if(vlans, [](const auto& vlan) { return vlan.pvid; });
    const auto absent = absentVlan(vlans);
    const auto facts = reader.readVlan(link.ifindex, absent);
    if (!facts)
        return facts.error().sentence();
    if (!facts->known)
        return "bridges of this kernel know no VLANs, as far as its types tell";
    if (facts->found)
        return fmt::format("VLAN {} is found in place on port {}, which has no part in it", absent,
                           link.name);
    if (facts->pvid != (pvid == vlans.end() ? 0 : pvid->vid))
        return fmt::format("the PVID of port {} reads differently in place", link.name);
    if (facts->protocol != bridge.vlanProtocol)
        return fmt::format("the VLAN protocol of the bridge of port {} reads differently in place",
                           link.name);
    for (std::size_t i = 0; i < vlans.size() && i < mostVlans; i++)
        if (auto difference = compareVlan(reader, link, vlans[i]); !difference.empty())
            return difference;
    return {};
}
} // namespace

Finding proveInPlaceVlans(InPlaceReader& reader, const model::Network& network) {
    unsigned ports = 0;
    std::size_t compared = 0;
    for (const auto& [ifindex, link] : network.links) {
        const auto* bridge = link.bridgePort ? network.link(link.master) : nullptr;
        if (bridge == nullptr || !bridge->bridge)
            continue;
        if (auto difference = comparePort(reader, link, *bridge->bridge); !difference.empty())
            return {false, difference};
        ports++;
        compared += std::min(link.bridgePort->vlans.size(), mostVlans);
    }
    if (compared == 0)
        return {false, "not proved yet: no bridge port has a VLAN to compare with"};
    return {true, fmt::format("{} VLANs on {} ports read alike in place and over netlink", compared, ports)};
}

} // namespace tna::capability
