// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "translator.hpp"

#include <string>
#include <tna/function.h>

namespace tna::nat64 {

/// What has become of frames. Each one received is in one of to4, to6, answered, dropped and givenBack.
struct Statistics {
    std::uint64_t received = 0;
    std::uint64_t to4 = 0;
    std::uint64_t to6 = 0;
    std::uint64_t answered = 0; ///< by ICMP errors; their reasons are counted as well
    std::uint64_t dropped = 0;
    std::uint64_t givenBack = 0;
    std::uint64_t fragmentsMade = 0; ///< of packets to IPv6
    std::array<std::uint64_t, reasonCount> reasons{};

    void count(Reason reason) { reasons[static_cast<std::size_t>(reason)]++; }
};

/// In words, or as one line of JSON. `sessions` may be null.
[[nodiscard]] std::string inWords(const Statistics& statistics, const Sessions* sessions,
                                  const tna_function_counts& counts);
[[nodiscard]] std::string asJson(const Statistics& statistics, const Sessions* sessions,
                                 const tna_function_counts& counts);

} // namespace tna::nat64
