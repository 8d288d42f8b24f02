// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"

namespace tna::assemble {

/// The module that forwards known unicast of a bridge (fpm/bridge/).
struct BridgeParameters {
    std::uint16_t vlanProtocol = 0; ///< EtherType of the tags that the bridge filters by; 0: it does not
};

[[nodiscard]] ProfileModule bridgeModule(const BridgeParameters& parameters = {});
[[nodiscard]] BridgeParameters bridgeParameters(const ProfileModule& module);
[[nodiscard]] Manifest bridgeManifest();

} // namespace tna::assemble
