// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/topology.hpp"

#include <string>
#include <vector>

namespace tna::diff {

/// What rules drop of what connection tracking calls invalid: not all of it, all before it is known where it
/// goes, or all at both places.
enum class InvalidDropped { notAll, early, whereverItGoes };

/// Hosts have services, and addresses outside. What comes to those, and belongs to nothing that is known,
/// is dropped: as a connection of its own it would take a port that another one is to have.
[[nodiscard]] std::vector<std::string> translationRules(const Topology& topology, InvalidDropped dropped);

} // namespace tna::diff
