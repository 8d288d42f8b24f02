// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "model/link.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

/// What the self-check has found: what is fast and what is sure disagree about a packet.
struct Disagreement {
    std::string module; ///< "bridge" or "route"
    model::IfIndex arrival = 0;
    std::string from;
    std::string to;
    struct Answer {
        model::IfIndex egress = 0; ///< 0: it is left to Linux, or not forwarded
        std::string gateway;       ///< of routes; or the destination itself
    };
    Answer ours;
    Answer kernel;
    std::string reason; ///< for which a bridged frame would be left to Linux; may be empty
};

/// What the self-check of a pipeline has found (fpm/base/self_check.bpf.h): it pauses modules that it does
/// not believe any more.
class SelfCheck {
public:
    /// The pipeline must outlive it.
    explicit SelfCheck(const PipelineObject& pipeline) : pipeline_(pipeline) {}

    /// Why modules are paused.
    [[nodiscard]] std::optional<Disagreement> disagreement() const;
    /// The modules that are.
    [[nodiscard]] std::vector<std::string> mistrusted() const;
    /// All are believed again; or those not that another pipeline's did not believe.
    void trust() const;
    void mistrustAs(const SelfCheck& other) const;

private:
    const PipelineObject& pipeline_;
};

} // namespace tna::deploy
