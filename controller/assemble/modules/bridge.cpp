// SPDX-License-Identifier: Apache-2.0
#include "assemble/modules/bridge.hpp"

#include "assemble/modules/parameters.hpp"

#include <arpa/inet.h>

namespace tna::assemble {

namespace {
constexpr const char* vlan = "vlan"; ///< EtherType of tags

constexpr std::uint16_t serviceTag = 0x88a8; // ETH_P_8021AD

std::optional<ProfileModule> wantedFor(const PortInQuestion& port) {
    if (port.bridge == nullptr)
        return std::nullopt;
    const auto& options = *port.bridge->bridge;
    // Where ports are watched, what is told of each has its VLANs.
    const bool filters = options.vlanFiltering && !port.around.watched();
    return bridgeModule({.vlanProtocol = filters ? options.vlanProtocol : std::uint16_t{0}});
}

std::vector<std::string> details(const Profile& /*profile*/, const ProfileModule& module) {
    const auto protocol = bridgeParameters(module).vlanProtocol;
    if (protocol == 0)
        return {};
    return {protocol == serviceTag ? "vlan-802.1ad" : "vlan"};
}

std::vector<ConstantValue> constants(const Profile& /*profile*/, const ProfileModule& module,
                                     const CacheSizes& /*sizes*/) {
    return {{TNA_CONSTANT_VLAN, htons(bridgeParameters(module).vlanProtocol)}};
}

std::vector<CacheMap> caches(const ProfileModule& module, const CacheSizes& sizes) {
    if (bridgeParameters(module).vlanProtocol == 0)
        return {};
    return {{"flow_vlans", sizes.flows * sizeof(tna_flow_vlans)}};
}
} // namespace

ProfileModule bridgeModule(const BridgeParameters& parameters) {
    return {"bridge", parametersOf({{vlan, parameters.vlanProtocol}})};
}

BridgeParameters bridgeParameters(const ProfileModule& module) {
    return {.vlanProtocol = static_cast<std::uint16_t>(module.parameter(vlan))};
}

Manifest bridgeManifest() {
    return {.name = "bridge",
            .hooks = {Hook::xdp},
            .constant = TNA_CONSTANT_BRIDGE,
            .checked = TNA_CHECKED_BRIDGE,
            .customBehind = {{TNA_HOOK_BRIDGE, TNA_CONSTANT_MODULES_BRIDGE, "bridge_modules"}},
            .wantedFor = wantedFor,
            .details = details,
            .constants = constants,
            .caches = caches};
}

} // namespace tna::assemble
