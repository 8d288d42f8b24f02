// SPDX-License-Identifier: Apache-2.0
#include "assemble/hooks.hpp"

#include <algorithm>
#include <utility>

namespace tna::assemble {

namespace {
/// At tcx, Linux itself sends: it pads what is too short, and asks the driver as it always does.
void seenFromTcx(PortPlan& port) {
    port.egress = port.tcxEgress;
    port.shortest = 0;
    port.egressModules.clear();
}
} // namespace

Plan partAt(Hook hook, const Plan& plan) {
    auto part = plan;
    for (auto& [ifindex, port] : part.ports) {
        if (hook == Hook::tcx)
            seenFromTcx(port);
        if (port.hook == hook)
            continue;
        port.profile = hook == Hook::tcx ? std::move(port.behind) : std::nullopt;
        port.behind.reset();
        port.standby = false;
    }
    return part;
}

void leaveAtXdpOnly(PortPlan& port, std::string why) {
    port.behind.reset();
    port.profile->tcxBehind = false;
    port.hookWhy = std::move(why);
}

bool anyProfile(const Plan& plan) {
    return std::ranges::any_of(plan.ports, [](const auto& item) { return item.second.profile.has_value(); });
}

const char* nameOfHooks(const PortPlan& port) {
    if (port.hook == Hook::tcx)
        return "tcx";
    return port.behind ? "xdp-native+tcx" : "xdp-native";
}

} // namespace tna::assemble
