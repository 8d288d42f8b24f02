// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/capabilities.hpp"

namespace tna::capability {

/// The XDP features of every device in the calling thread's network namespace.
[[nodiscard]] Result<std::map<model::IfIndex, XdpFeatures>> readXdpFeatures();

} // namespace tna::capability
