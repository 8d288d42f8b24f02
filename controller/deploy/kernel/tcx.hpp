// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

namespace tna::deploy {

/// Whether BPF programs of traffic control are attached to a device (tcx, since 6.6; nobody announces them).
/// On kernels without: false.
[[nodiscard]] bool hasTcxAtIngress(model::IfIndex ifindex);
[[nodiscard]] bool hasTcxAtEgress(model::IfIndex ifindex);

} // namespace tna::deploy
