// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "capability/capabilities.hpp"
#include "model/network.hpp"

#include <set>

namespace tna::assemble {

/// What the operator wants, already matched against the links.
struct Wishes {
    std::map<model::IfIndex, Reason> excluded; ///< by configuration, and why
    std::set<model::IfIndex> paused;
    bool allPaused = false;
    std::set<model::IfIndex> attached; ///< ports that carry a program of ours
    /// Ports whose senders finish their frames, as the operator promises: checksums are written, segments are
    /// cut, tags are in the frame.
    std::set<model::IfIndex> finished;
    /// Links with BPF programs of traffic control (tcx), which are not announced.
    std::set<model::IfIndex> tcxIngress;
    std::set<model::IfIndex> tcxEgress;
};

/// Decides what is done with each bridge port of a network.
[[nodiscard]] Plan assemble(const model::Network& network, const capability::Capabilities& capabilities,
                            const Wishes& wishes);

} // namespace tna::assemble
