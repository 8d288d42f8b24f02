// SPDX-License-Identifier: Apache-2.0
#include "assemble/profile.hpp"

namespace tna::assemble {

std::vector<std::string> Profile::modules() const {
    std::vector<std::string> names;
    if (bridge)
        names.emplace_back("bridge");
    if (route)
        names.emplace_back("route");
    return names;
}

std::string Profile::name() const {
    std::string text = bridge ? "bridge" : route ? "route" : "none";
    if (bridge && route)
        text += "+route";
    else if (bridges)
        text += "+bridges";
    if (vlanDevices)
        text += "+vlan-devices";
    if (vlanStacks)
        text += "+vlan-stacks";
    if (bridgeVlans)
        text += "+bridge-vlans";
    if (manyRoutes)
        text += "+many-routes";
    if (vlanProtocol != 0)
        text += vlanProtocol == 0x88a8 ? "+vlan-802.1ad" : "+vlan";
    if (veth)
        text += "+veth";
    if (watched)
        text += "+watched";
    if (brNetfilter)
        text += "+br_netfilter";
    if (!custom.empty())
        text += "+custom";
    return text;
}

} // namespace tna::assemble
