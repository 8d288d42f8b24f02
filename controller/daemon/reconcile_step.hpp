// SPDX-License-Identifier: Apache-2.0
// Reconciling, as far as it is computed: from what was in place, what was wanted and what came of it to what
// is in place now, and what is to be done and told. Nothing here asks or changes anything.
#pragma once

#include "assemble/assemble.hpp"
#include "assemble/manifest.hpp"
#include "deploy/results/data_path.hpp"

#include <map>
#include <set>

namespace tna::daemon {

using Failures = std::map<model::IfIndex, Error>;

/// What is in place in a namespace.
struct InPlace {
    assemble::Plan plan;
    Failures failures;                                      ///< of the plan
    Failures onlyAtXdp;                                     ///< what was to be at tcx as well, and is not
    assemble::Presumed presumed = assemble::presumedIn({}); ///< by flows that are remembered
};

/// What comes of a plan that was applied.
struct Step {
    InPlace now;
    bool forgetFlows = false;
    /// Links whose program is gone. The kernel does not announce that, and a link that still says that it has
    /// one would be taken for somebody else's.
    std::set<model::IfIndex> lost;
    /// Links that may be gone: the kernel calls an index without a device an invalid argument, as much else,
    /// and the announcement may be on its way.
    std::set<model::IfIndex> doubtful;
};

/// `attachedBefore` and `attachedNow`: links that carry a program of ours.
[[nodiscard]] Step stepAfter(const InPlace& before, assemble::Plan plan, deploy::Applied applied,
                             const model::Network& network, const std::set<model::IfIndex>& attachedBefore,
                             const std::set<model::IfIndex>& attachedNow);

/// Of links that were doubtful, those that are gone were never anything: nobody is told that they were.
void dropGone(InPlace& inPlace, const std::set<model::IfIndex>& doubtful, const model::Network& network);

/// What did not fail before.
[[nodiscard]] Failures newFailures(const Failures& before, const Failures& now);

} // namespace tna::daemon
