// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"

#include "base/error.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace tna::bench {

struct ReactionOptions {
    unsigned ports = 100;
    unsigned starts = 5;
    unsigned changes = 400;
    unsigned stations = 100'000; ///< in the forwarding database, for the measurement at rest
    double idleSeconds = 10;
    std::string tnad;
};

struct Reaction {
    std::vector<double> startUp;   ///< seconds from before exec to all ports accelerated
    std::vector<double> reactions; ///< seconds from before the change to the new profile in place
    std::vector<double> requests;  ///< of these, the kernel's own time to make the change
    std::vector<double> own;       ///< of these, from when tnad was woken
    double startUpWithStations = 0;
    double idleCpu = 0; ///< part of a core
    std::uint64_t residentBytes = 0;
};

[[nodiscard]] Result<Reaction> measureReaction(const ReactionOptions& options, Watcher& watcher);

[[nodiscard]] std::string renderReaction(const ReactionOptions& options, const Reaction& reaction);
[[nodiscard]] nlohmann::json reactionDocument(const ReactionOptions& options, const nlohmann::json& machine,
                                              const Reaction& reaction);

} // namespace tna::bench
