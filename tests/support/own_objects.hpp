// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <linux/bpf.h>
#include <set>
#include <string>
#include <vector>

namespace tna::test {

/// The ids of the BPF programs of this name that this process holds; and how many they are.
[[nodiscard]] std::set<std::uint32_t> ownProgramIds(const std::string& name);
[[nodiscard]] std::size_t ownPrograms(const std::string& name);

/// The maps of this name that this process holds. Those of others are not asked for: tests run side by side.
void eachOwnMap(const std::string& name, const std::function<void(int map, const bpf_map_info&)>& look);

/// The values of the maps of this name that this process holds, each of which has one element, one behind the
/// other; nothing if there is none.
[[nodiscard]] std::vector<std::uint8_t> valuesOfOwnMaps(const std::string& name);

/// The same as entries.
template <typename Entry>
[[nodiscard]] std::vector<Entry> entriesOfOwnMaps(const std::string& name) {
    const auto bytes = valuesOfOwnMaps(name);
    std::vector<Entry> entries(bytes.size() / sizeof(Entry));
    std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
    return entries;
}

/// Changes the value of each such map of this process; how many there are.
unsigned changeOwnMaps(const std::string& name,
                       const std::function<void(std::vector<std::uint8_t>&)>& change);

/// The same with each entry.
template <typename Entry, typename Change>
unsigned changeEntriesOfOwnMaps(const std::string& name, const Change& change) {
    return changeOwnMaps(name, [&](std::vector<std::uint8_t>& bytes) {
        std::vector<Entry> entries(bytes.size() / sizeof(Entry));
        std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
        for (auto& entry : entries)
            change(entry);
        std::memcpy(bytes.data(), entries.data(), entries.size() * sizeof(Entry));
    });
}

} // namespace tna::test
