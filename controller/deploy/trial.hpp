// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/profile_store.hpp"
#include "deploy/ports/slot_table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

/// What the fast path would do with a frame.
struct Verdict {
    std::optional<model::IfIndex> egress; ///< the port it would leave by; nothing: it is left to Linux
    std::string code;                     ///< why it is left to Linux, as in tna/reasons.h; may be empty
    std::string text;
    std::vector<std::uint8_t> frame; ///< as it would leave
};

/// Runs a profile on a frame as if it had come in by a port with a slot, finished and in one buffer. The
/// program is a copy with memory of its own: nothing is sent, counted, or remembered.
[[nodiscard]] Result<Verdict> tryFrame(const PipelineObject& pipeline, const ProfileStore& profiles,
                                       const SlotTable& slots, assemble::Profile profile, model::IfIndex port,
                                       const std::vector<std::uint8_t>& frame);

} // namespace tna::deploy
