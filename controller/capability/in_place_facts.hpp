// SPDX-License-Identifier: Apache-2.0
// What the kernel's own structures say of bridges, to be compared with what netlink says.
#pragma once

#include "model/link.hpp"

#include <cstdint>

namespace tna::capability {

/// A bridge port as the fast path will see it.
struct PortFacts {
    std::uint64_t flags = 0;
    std::uint64_t bridgeOptions = 0;
    unsigned state = 0;
};

struct EntryFacts {
    std::uint64_t flags = 0;
    model::IfIndex port = 0;
};

/// A port's part in a VLAN, and what it does with frames without a tag.
struct VlanFacts {
    bool known = false; ///< bridges of this kernel know VLANs
    bool found = false;
    unsigned flags = 0; ///< BRIDGE_VLAN_INFO_*
    unsigned state = 0;
    std::uint16_t pvid = 0;     ///< of the port
    std::uint16_t protocol = 0; ///< of the bridge
};

} // namespace tna::capability
