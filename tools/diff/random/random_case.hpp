// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"

namespace tna::diff {

enum class Kind {
    any,
    bridge,
    vlan,
    router,
    routedBridge,
    vlanRouter,
    vrf,
    tables,
    routeOptions,
    qdisc,
    sysctl,
    links,
    firewall,
    nat,
    bridgedFirewall,
    bridgeRules,
    containers
};

/// A random configuration, changes of it, and packets: the same for the same seed; of sysctl, qdisc and
/// links, where the kernel has the same of them.
[[nodiscard]] Case randomCase(std::uint64_t seed, std::size_t packets, Kind kind = Kind::any);

} // namespace tna::diff
