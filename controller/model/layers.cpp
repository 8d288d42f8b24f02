// SPDX-License-Identifier: Apache-2.0
#include "model/layers.hpp"

namespace tna::model {

Layers::Layers(const Network& network) {
    for (const auto& [ifindex, link] : network.links) {
        if (link.lower != 0 && !link.lowerElsewhere && link.kind != "veth")
            on_[link.lower].push_back(&link);
        if (link.master != 0 && !link.bridgePort)
            members_.emplace(link.master, &link);
    }
}

const std::vector<const Link*>& Layers::on(IfIndex ifindex) const {
    static const std::vector<const Link*> none;
    const auto it = on_.find(ifindex);
    return it == on_.end() ? none : it->second;
}

const Link* Layers::memberOf(IfIndex ifindex) const {
    const auto it = members_.find(ifindex);
    return it == members_.end() ? nullptr : it->second;
}

} // namespace tna::model
