// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::cli {

/// Those that somebody may have meant who wrote `word`, the nearest first, at most three: few letters are
/// others, or one is the beginning of the other.
[[nodiscard]] std::vector<std::string> nearWords(const std::string& word,
                                                 const std::vector<std::string>& known);

/// "did you mean 'a' or 'b'?", or "" if nothing is near.
[[nodiscard]] std::string guess(const std::string& word, const std::vector<std::string>& known);

} // namespace tna::cli
