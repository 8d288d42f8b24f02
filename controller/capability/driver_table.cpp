// SPDX-License-Identifier: Apache-2.0
#include "capability/driver_table.hpp"

#include <algorithm>

namespace tna::capability {

namespace {
/// Those with ndo_xdp_xmit() that run programs and take what these redirect; as `ethtool -i` names them.
constexpr std::array<const char*, 17> drivers = {
    "bnxt_en",   "ena",    "fsl_dpaa2_eth", "fsl_enetc", "i40e", "ice", "igb",  "igc",       "ixgbe",
    "mlx5_core", "mvneta", "mvpp2",         "qede",      "sfc",  "tun", "veth", "virtio_net"};
} // namespace

std::map<model::IfIndex, XdpFeatures> featuresByDriver(const model::Network& network) {
    std::map<model::IfIndex, XdpFeatures> devices;
    for (const auto& [ifindex, link] : network.links)
        if (std::ranges::find(drivers, link.driver) != drivers.end())
            devices[ifindex] = {.native = true, .redirectTarget = true, .frags = false};
    return devices;
}

} // namespace tna::capability
