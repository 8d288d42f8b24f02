// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "functions/declaration.hpp"

#include <map>
#include <span>
#include <string>
#include <tna/steer.h>
#include <vector>

namespace tna::functions {

/// A function whose frames are to be steered.
struct Steered {
    unsigned number = 0; ///< the place that the fast path knows it by
    const Declaration* declared = nullptr;
    std::vector<unsigned> ruleNumbers; ///< of each rule, where its frames are counted
};

/// What the fast path looks frames up in; see tna/steer.h.
struct SteeringTable {
    tna_steer_table masks{};
    std::vector<tna_steer_entry> entries; ///< TNA_STEER_ENTRIES, or none if there are no rules
};

/// What the fast path has for a priority: the higher one comes first.
[[nodiscard]] unsigned rankOf(unsigned priority);

/// Ports that are not there (`ports` has those that are) have no part in it. An error says which rules are
/// too many or contradict each other: of different functions, of the same priority, for the same frame.
[[nodiscard]] Result<SteeringTable> makeTable(std::span<const Steered> functions,
                                              const std::map<std::string, unsigned>& ports);

} // namespace tna::functions
