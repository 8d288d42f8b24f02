// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capability/capabilities.hpp"
#include "config/config.hpp"
#include "deploy/fast_path.hpp"
#include "deploy/kernel/vlan_devices.hpp"
#include "introspect/stations.hpp"

namespace tna::daemon {

/// The fast path, and what goes along with the way it learns what Linux would do.
struct Loaded {
    std::optional<deploy::KernelProbe> probe; ///< where the kernel is read in place
    std::unique_ptr<deploy::FastPath> fastPath;
    std::optional<introspect::Stations> stations;   ///< where it is not, and the bridge cannot be asked
    std::optional<deploy::VlanDevices> vlanDevices; ///< where it is not; nothing: this kernel does not tell
};

/// The probe for reading in place, or why there is none; by the configuration, too.
[[nodiscard]] Result<deploy::KernelProbe> loadProbe(const config::Config& config);

/// Loads the fast path that the configuration wants and the kernel can do, and notes in `capabilities` which.
[[nodiscard]] Result<Loaded> loadFastPath(const config::Config& config, Result<deploy::KernelProbe> probe,
                                          capability::Capabilities& capabilities, std::size_t stationsBuffer);

/// The one that reads nothing in place.
[[nodiscard]] Result<Loaded> loadWatched(const config::Config& config, capability::Capabilities& capabilities,
                                         std::size_t stationsBuffer);

} // namespace tna::daemon
