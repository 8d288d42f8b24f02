// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tna::test {

/// The bytes of the value of a map that this process holds and that has one element; nothing if there is no
/// map of this name.
[[nodiscard]] std::vector<std::uint8_t> valueOfOwnMap(const std::string& name);

/// The same as entries.
template <typename Entry>
[[nodiscard]] std::vector<Entry> entriesOfOwnMap(const std::string& name) {
    const auto bytes = valueOfOwnMap(name);
    std::vector<Entry> entries(bytes.size() / sizeof(Entry));
    std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
    return entries;
}

} // namespace tna::test
