// SPDX-License-Identifier: Apache-2.0
#include "cli/near.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace tna::cli {

namespace {
constexpr std::size_t longest = 64; ///< no name is longer; nobody waits for a guess
constexpr std::size_t most = 3;

/// Letters to put in, to take out, or to exchange (Levenshtein).
std::size_t distance(const std::string& one, const std::string& other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < one.size(); i++) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < other.size(); j++) {
            const auto exchanged = diagonal + (one[i] == other[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}
} // namespace

std::vector<std::string> nearWords(const std::string& word, const std::vector<std::string>& known) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const auto& name : known) {
        if (word.empty() || word.size() > longest || name.size() > longest)
            continue;
        const bool begins = name.starts_with(word) || word.starts_with(name);
        const auto letters = distance(word, name);
        if (letters <= (std::max(word.size(), name.size()) + 2) / 4 || (begins && !name.empty()))
            near.emplace_back(letters, name);
    }
    std::ranges::sort(near);
    near.resize(std::min(near.size(), most));
    std::vector<std::string> names;
    for (auto& [letters, name] : near)
        names.push_back(std::move(name));
    return names;
}

std::string guess(const std::string& word, const std::vector<std::string>& known) {
    const auto near = nearWords(word, known);
    std::string text;
    for (const auto& name : near)
        text += (text.empty() ? "" : " or ") + fmt::format("'{}'", name);
    return near.empty() ? "" : "did you mean " + text + "?";
}

} // namespace tna::cli
