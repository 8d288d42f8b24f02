// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capability/capabilities.hpp"
#include "model/network.hpp"

namespace tna::capability {

/// For kernels before 6.3, which do not tell what drivers can do with XDP: what is known of drivers since
/// Linux 5.15. A driver that is not known here can nothing.
[[nodiscard]] std::map<model::IfIndex, XdpFeatures> featuresByDriver(const model::Network& network);

} // namespace tna::capability
