// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace tna::cli {

/// Numbers as people write them: digits, a point, an exponent. No nan, no infinity, nothing out of bounds.
[[nodiscard]] CLI::Validator number(double least, double most);
/// The same of whole numbers.
[[nodiscard]] CLI::Validator wholeNumber(std::uint64_t least, std::uint64_t most);

constexpr double longestTime = 86400; ///< seconds that a measurement or a search may take
/// How many of something are shown, or how often something is done.
constexpr std::uint64_t mostTimes = 1'000'000'000;

/// No option or argument of this program takes an empty word, which is what a shell makes of a variable that
/// is not set.
void refuseEmptyWords(CLI::App& app);

} // namespace tna::cli
