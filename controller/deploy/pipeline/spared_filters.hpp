// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "model/packet_filter.hpp"

#include <vector>

namespace tna::deploy {

/// The filters of packet sockets that a pipeline takes for harmless (fpm/guards/packet_filter.bpf.h).
class SparedFilters {
public:
    /// The pipeline must outlive it.
    explicit SparedFilters(const PipelineObject& pipeline) : pipeline_(pipeline) {}

    /// These, of which there are no more than TNA_FILTERS_MAX, instead of those before.
    void set(const std::vector<model::PacketFilter>& filters);

private:
    const PipelineObject& pipeline_;
    std::vector<model::PacketFilter> known_;
};

} // namespace tna::deploy
