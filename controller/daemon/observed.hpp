// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capability/capabilities.hpp"

#include <optional>
#include <set>

namespace tna::daemon {

/// What is known that decisions rest on, besides the network and what the operator wants.
struct Observed {
    capability::Capabilities capabilities;
    std::set<model::IfIndex> tcxIngress; ///< bridge ports with BPF programs of traffic control
    std::set<model::IfIndex> tcxEgress;
    /// Bridge ports with VLAN devices, in whatever namespace these are; nothing: it cannot be known.
    std::optional<std::set<model::IfIndex>> underVlanDevices;
    std::set<model::IfIndex> ringBridges;        ///< bridges in redundancy rings (MRP), where it is watched
    std::set<model::IfIndex> promiscuousBridges; ///< bridges that want all frames, where it is watched
    bool informed = true;                        ///< what Linux was told could be read
};

} // namespace tna::daemon
