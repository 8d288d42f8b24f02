// SPDX-License-Identifier: Apache-2.0
#include "assemble/flow_places.hpp"

#include "assemble/modules/bridge.hpp"
#include "assemble/modules/route.hpp"
#include "model/layers.hpp"

#include <set>

namespace tna::assemble {

namespace {
class Places {
public:
    explicit Places(const model::Network& network) : network_(network), layers_(network) {}

    void add(const PortPlan& port) {
        const auto* link = network_.link(port.ifindex);
        if (link == nullptr)
            return;
        const bool comes = port.profile && port.profile->rules;
        const FlowPlace place{.comes = comes, .leaves = port.egress || port.tcxEgress};
        const bool routes = comes && port.profile->module(routeManifest().name) != nullptr;
        add(*link, place, routes && !link->bridgePort);
        const auto* bridge = link->bridgePort ? network_.link(link->master) : nullptr;
        if (bridge == nullptr)
            return;
        add(*bridge, place, routes);
        if (comes && port.profile->brNetfilter && port.profile->module(bridgeManifest().name) != nullptr)
            bridged_[bridge->ifindex]++;
    }

    /// Rules are passed between devices that packets are routed by, and within a bridge that has them called.
    [[nodiscard]] FlowPlaces take() && {
        bool several = routed_.size() > 1;
        for (const auto& [bridge, ports] : bridged_)
            several = several || ports > 1;
        return several ? std::move(places_) : FlowPlaces{};
    }

private:
    /// Packets of the VLAN devices on it come and leave by the same ports.
    void add(const model::Link& link, FlowPlace place, bool routes) {
        auto& known = places_[link.ifindex];
        known.comes = known.comes || place.comes;
        known.leaves = known.leaves || place.leaves;
        if (routes)
            routed_.insert(link.ifindex);
        for (const auto* above : layers_.on(link.ifindex))
            if (above->vlan)
                add(*above, place, routes);
    }

    const model::Network& network_;
    const model::Layers layers_;
    FlowPlaces places_;
    std::set<model::IfIndex> routed_;
    std::map<model::IfIndex, unsigned> bridged_; ///< ports, by bridge
};
} // namespace

FlowPlaces flowPlaces(const model::Network& network, const std::map<model::IfIndex, PortPlan>& ports) {
    Places places(network);
    for (const auto& [ifindex, port] : ports)
        places.add(port);
    return std::move(places).take();
}

} // namespace tna::assemble
