// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"

namespace tna::assemble {

/// The module that forwards packets that are routed (fpm/route/).
struct RouteParameters {
    bool bridges = false;      ///< to and from bridges as well
    bool vlanDevices = false;  ///< to and from VLAN devices
    bool vlanStacks = false;   ///< ... and VLAN devices on those
    bool bridgeVlans = false;  ///< ... and bridges that filter VLANs, or have VLAN devices on top
    bool manyRoutes = false;   ///< what destinations are routed by is worth remembering
    model::MacAddress station; ///< of the bridge for which packets are routed, with the bridge module before

    /// To and from devices on top of ports.
    [[nodiscard]] bool stacked() const { return bridges || vlanDevices || bridgeVlans; }
};

[[nodiscard]] ProfileModule routeModule(const RouteParameters& parameters = {});
[[nodiscard]] RouteParameters routeParameters(const ProfileModule& module);
[[nodiscard]] Manifest routeManifest();

} // namespace tna::assemble
