// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "capability/capabilities.hpp"
#include "model/network.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tna::assemble {

/// What the operator wants, already matched against the links.
struct Wishes {
    std::map<model::IfIndex, Reason> excluded; ///< by configuration, and why
    std::set<model::IfIndex> paused;
    bool allPaused = false;
    std::set<std::string> mistrusted; ///< modules that the self-check has paused
    std::chrono::nanoseconds refresh = std::chrono::milliseconds(500); ///< of stations, at the latest
    std::set<model::IfIndex> attached;                                 ///< ports that carry a program of ours
    /// Ports whose senders finish their frames, as the operator promises: checksums are written, segments are
    /// cut, tags are in the frame.
    std::set<model::IfIndex> finished;
    /// Links whose drivers or kinds are to be taken for safe although that is not known.
    std::set<model::IfIndex> trusted;
    /// Links whose frames are to be seen at tcx, not at XDP.
    std::set<model::IfIndex> atTcx;
    /// Those of them that stay there for whatever reason there is for XDP.
    std::set<model::IfIndex> atTcxByName;
    /// More such links may come at any time, as containers do.
    bool moreForTcx = false;
    /// Links at tcx that are Linux's for a while, and why.
    std::map<model::IfIndex, Reason> resting;
    /// Links with BPF programs of traffic control (tcx), which are not announced.
    std::set<model::IfIndex> tcxIngress;
    std::set<model::IfIndex> tcxEgress;
    /// Bridges in redundancy rings (MRP), whose ports' states nobody announces.
    std::set<model::IfIndex> ringBridges;
    /// Bridges that want all frames, for a device on them whose address is its own: nobody announces that.
    std::set<model::IfIndex> promiscuousBridges;
    /// Links with VLAN devices, in whatever namespace these are; nothing: it cannot be known.
    std::optional<std::set<model::IfIndex>> underVlanDevices;
    /// Links whose drivers have refused redirected frames, and why that is said.
    std::map<model::IfIndex, Reason> refused;
    /// Why it cannot be seen what drivers refuse; nothing: it can.
    std::optional<std::string> refusalsUnseen;
    std::map<model::IfIndex, CustomModules> custom; ///< that the operator wants on a link
    /// Those of them, by identity and hook, that ports at tcx can have, too.
    std::set<std::pair<std::string, tna_hook>> customAtTcx;
    /// Links whose frames may be steered to network functions, whether or not they are accelerated: the
    /// custom module that does it, by its identity.
    std::map<model::IfIndex, std::string> steered;
    /// What becomes of connections can be learnt where packets pass rules, and is, where they have somewhere
    /// to go; see NamespacePlan.
    bool learning = false;
    /// The same of flows that pass rules of bridges.
    bool learningOfBridges = false;
    /// From so many routes on, what destinations are routed by is worth remembering; nothing: never.
    std::optional<unsigned> manyRoutes;
};

/// Decides what is done with each bridge port and each routed port of a network.
[[nodiscard]] Plan assemble(const model::Network& network, const capability::Capabilities& capabilities,
                            const Wishes& wishes);

/// Whether profiles are to remember what destinations are routed by: the one decision that depends on a
/// count.
[[nodiscard]] bool hasManyRoutes(const model::Network& network, std::optional<unsigned> many);

} // namespace tna::assemble
