// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/manifest.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/pipeline/pipeline_object.hpp"

#include <map>
#include <string>
#include <vector>

namespace tna::deploy {

/// A cache whose entries count.
struct CountingMap {
    int map = -1;
    std::size_t bytes = 0;
    assemble::Counting counting = assemble::Counting::nothing;
};

/// The maps that the CPUs' caches lie in (modules' manifests name them). They take the places of the
/// pipeline's own, which are there for one entry only. What only some profiles need is made for the first
/// one that does.
class FlowCache {
public:
    /// As many entries per CPU as wanted, or as fit; and of all CPUs as many destinations, for profiles with
    /// many routes.
    [[nodiscard]] static Result<FlowCache> create(unsigned perCpu, unsigned destinations);

    [[nodiscard]] const assemble::CacheSizes& sizes() const { return sizes_; }
    /// Which map a profile is to have in place of which.
    [[nodiscard]] Result<std::map<int, int>> replacements(const assemble::Profile& profile,
                                                          const PipelineObject& pipeline);
    /// Those that there are by now and that count, in the order in which they were made.
    [[nodiscard]] const std::vector<CountingMap>& counting() const { return counting_; }

private:
    [[nodiscard]] Result<int> need(const assemble::CacheMap& wanted);

    assemble::CacheSizes sizes_;
    std::map<std::string, UniqueFd> made_;
    std::vector<CountingMap> counting_;
};

} // namespace tna::deploy
