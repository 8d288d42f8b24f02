// SPDX-License-Identifier: Apache-2.0
#include "assemble/hooks.hpp"

#include <algorithm>

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
        port.profile.reset();
        port.standby = false;
    }
    return part;
}

bool anyProfile(const Plan& plan) {
    return std::ranges::any_of(plan.ports, [](const auto& item) { return item.second.profile.has_value(); });
}

const char* nameOf(Hook hook) {
    return hook == Hook::xdp ? "xdp-native" : "tcx";
}

} // namespace tna::assemble
