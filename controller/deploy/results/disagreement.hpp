// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <string>

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

} // namespace tna::deploy
