// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/profile_store.hpp"
#include "deploy/ports/slot_table.hpp"
#include "deploy/results/verdict.hpp"

#include <cstdint>
#include <vector>

namespace tna::deploy {

/// Runs a profile on a frame as if it had come in by a port with a slot, finished and in one buffer. The
/// program is a copy with memory of its own: nothing is sent, counted, or remembered.
[[nodiscard]] Result<Verdict> tryFrame(const PipelineObject& pipeline, const ProfileStore& profiles,
                                       const SlotTable& slots, assemble::Profile profile, model::IfIndex port,
                                       const std::vector<std::uint8_t>& frame);

} // namespace tna::deploy
