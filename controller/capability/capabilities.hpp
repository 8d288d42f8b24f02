// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <array>
#include <map>
#include <string>

namespace tna::capability {

/// What a device's driver can do with XDP, as the kernel reports it (netdev netlink family, since 6.3).
struct XdpFeatures {
    bool native = false;         ///< runs XDP programs that may redirect
    bool redirectTarget = false; ///< takes redirected frames
    bool frags = false;          ///< hands over frames in several buffers
    bool operator==(const XdpFeatures&) const = default;
};

/// Outcome of a probe, with its evidence.
struct Finding {
    bool available = false;
    std::string detail;
    bool operator==(const Finding&) const = default;
};

/// Where the fast path learns what Linux would do with a frame.
enum class Way {
    inPlace, ///< from the kernel's own structures, for every frame
    watched, ///< from a mirror of the stations, or the bridge itself, and a table of ports kept over netlink
};

struct Capabilities {
    Way way = Way::inPlace;
    std::string kernelRelease;
    std::string lockdown;     ///< "none", "integrity", "confidentiality"
    Finding fastPath;         ///< the programs load
    Finding inPlaceFdb;       ///< proved by comparison with a netlink dump
    Finding inPlaceVlans;     ///< likewise, for bridges that filter VLANs
    Finding tcx;              ///< programs can be attached to devices there
    Finding kfunc;            ///< the bridge is asked for stations
    Finding mirror;           ///< of the stations, in use and complete
    bool driversTell = true;  ///< the kernel reports what drivers can do with XDP
    bool ebtables = false;    ///< its own rules can be there, which nobody lists
    bool mrp = false;         ///< bridges may have redundancy rings, which nobody announces
    bool brNetfilter = false; ///< its hooks exist in this kernel, and where is known
    /// They may be there, but the kernel shows no addresses: what is called at hooks is not recognised.
    bool brNetfilterHidden = false;
    Finding flowtable; ///< XDP can look into flowtables
    /// br_netfilter's three, AppArmor's, two more of the first, and those of flowtables: inet, ip, ip6.
    std::array<std::uint64_t, 9> hookFunctions{};
    std::map<model::IfIndex, XdpFeatures> devices;
};

} // namespace tna::capability
