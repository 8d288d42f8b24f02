// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "balancer.hpp"

#include <string>
#include <tna/function.h>

namespace tna::balancer {

/// What has become of frames: each one received is counted once.
struct Statistics {
    std::uint64_t received = 0;
    std::array<std::uint64_t, outcomeWords.size()> outcomes{};

    void count(Outcome outcome) {
        received++;
        outcomes[static_cast<std::size_t>(outcome)]++;
    }
};

/// In words, or as one line of JSON.
[[nodiscard]] std::string inWords(const Statistics& statistics, const Balancer& balancer,
                                  const tna_function_counts& counts, std::uint32_t now);
[[nodiscard]] std::string asJson(const Statistics& statistics, const Balancer& balancer,
                                 const tna_function_counts& counts, std::uint32_t now);

} // namespace tna::balancer
