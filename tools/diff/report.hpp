// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/play.hpp"

namespace tna::diff {

/// What many cases came to.
struct Totals {
    std::uint64_t configurations = 0; ///< compared
    std::uint64_t impossible = 0;     ///< not to be had on this machine
    std::uint64_t commands = 0;       ///< and other changes
    std::uint64_t packets = 0;
    std::uint64_t out = 0;
    std::uint64_t reordered = 0;
    std::uint64_t differences = 0;
    Figures figures;

    void add(const Case& what, const Outcome& outcome);
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string json() const;
};

/// Writes a case into a folder, ready to run again: the script, the frames, and what came out of either
/// world.
[[nodiscard]] Result<void> save(const std::string& folder, const Case& what, const Outcome& outcome);
/// A script that a user names: nothing else, see checkScript().
[[nodiscard]] Result<std::string> readScript(const std::string& path);
constexpr std::size_t largestPackets = 1U << 30U;
[[nodiscard]] Result<Case> load(const std::string& folder);

/// For people: where the two worlds differ.
[[nodiscard]] std::string text(const Difference& difference);

} // namespace tna::diff
