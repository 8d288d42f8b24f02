// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/attributes.hpp"
#include "model/link.hpp"

namespace tna::introspect {

/// IFLA_INFO_DATA of a bridge.
[[nodiscard]] model::BridgeOptions decodeBridge(Bytes data);
/// IFLA_INFO_SLAVE_DATA of a bridge port.
[[nodiscard]] model::BridgePort decodeBridgePort(Bytes data);

} // namespace tna::introspect
