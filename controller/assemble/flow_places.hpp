// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "model/network.hpp"

namespace tna::assemble {

/// The devices that rules see packets pass which the fast path may forward, and what packets do there: by
/// which of them they come, and by which they may leave. Of these, what becomes of connections is worth
/// learning; empty, if there are not two of them to forward between.
[[nodiscard]] FlowPlaces flowPlaces(const model::Network& network,
                                    const std::map<model::IfIndex, PortPlan>& ports);

} // namespace tna::assemble
