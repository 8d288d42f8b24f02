// SPDX-License-Identifier: Apache-2.0
#include "model/network.hpp"

#include <algorithm>

namespace tna::model {

const char* toString(StpState state) {
    switch (state) {
    case StpState::disabled:
        return "disabled";
    case StpState::listening:
        return "listening";
    case StpState::learning:
        return "learning";
    case StpState::forwarding:
        return "forwarding";
    case StpState::blocking:
        return "blocking";
    }
    return "unknown";
}

std::string MacAddress::text() const {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const auto byte : bytes) {
        if (!out.empty())
            out += ':';
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

const Link* Network::link(IfIndex ifindex) const {
    const auto it = links.find(ifindex);
    return it == links.end() ? nullptr : &it->second;
}

const Link* Network::linkByName(const std::string& name) const {
    const auto it = std::ranges::find_if(links, [&](const auto& item) { return item.second.name == name; });
    return it == links.end() ? nullptr : &it->second;
}

std::vector<const Link*> Network::portsOf(IfIndex bridge) const {
    std::vector<const Link*> ports;
    for (const auto& [ifindex, link] : links)
        if (link.master == bridge && link.bridgePort)
            ports.push_back(&link);
    return ports;
}

std::vector<const Link*> Network::stackedOn(IfIndex ifindex) const {
    std::vector<const Link*> stacked;
    for (const auto& [index, link] : links)
        if (link.lower == ifindex && !link.lowerElsewhere && link.kind != "veth")
            stacked.push_back(&link);
    return stacked;
}

} // namespace tna::model
