// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/pipeline_object.hpp"

#include <map>

namespace tna::deploy {

/// The maps that the CPUs' caches lie in: of flows that are bridged, of routes of IPv4, and of IPv6. They
/// take the places of the pipeline's own, which are there for one entry only.
struct FlowCache {
    UniqueFd flows;
    unsigned perCpu = 0;
    unsigned total = 0;
    /// What only some profiles need; made for the first one that does.
    UniqueFd routes;
    UniqueFd routes6;
    UniqueFd vlans;
    UniqueFd stacks;
    UniqueFd destinations;
    /// Of each CPU, and of all; in lines of TNA_DESTINATION_WAYS.
    unsigned destinationLines = 0;
    unsigned destinationLinesTotal = 0;

    /// As many entries per CPU as wanted, or as fit; and of all CPUs as many destinations, for profiles with
    /// many routes.
    [[nodiscard]] static Result<FlowCache> create(unsigned perCpu, unsigned destinations);
    /// Which map a profile is to have in place of which.
    [[nodiscard]] Result<std::map<int, int>> replacements(const assemble::Profile& profile,
                                                          const PipelineObject& pipeline);
};

} // namespace tna::deploy
