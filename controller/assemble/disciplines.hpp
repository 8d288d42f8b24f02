// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tna::assemble {

/// What a kind of queueing discipline must say of itself to be plain: this setting is at least so much, which
/// is what Linux sets by default.
struct DisciplineBound {
    std::string_view kind;
    std::string_view setting;
    std::uint64_t least = 0;
    bool mayBeAbsent = false; ///< the kernel tells it only if it has been set
};
[[nodiscard]] std::span<const DisciplineBound> disciplineBounds();

/// The kinds that may be plain; of all others Linux sends the frames.
[[nodiscard]] std::span<const std::string_view> plainKinds();

/// A frame that finds it empty goes straight to the driver, as it is.
[[nodiscard]] bool isPlain(const model::Discipline& discipline);

/// All that a frame may meet on its way out: the root discipline, or one for each queue, and no filter of
/// theirs.
[[nodiscard]] bool queuesArePlain(const model::Link& link);

} // namespace tna::assemble
