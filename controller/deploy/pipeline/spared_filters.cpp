// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/spared_filters.hpp"

#include "deploy/kernel/grace_period.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <tna/fastpath.h>

namespace tna::deploy {

namespace {
template <typename Word>
void store(Word& word, std::size_t value) {
    __atomic_store_n(&word, static_cast<Word>(value), __ATOMIC_SEQ_CST);
}
} // namespace

/// Wherever a filter is known, what it may want is left to Linux: that begins earlier and ends later.
void SparedFilters::set(const std::vector<model::PacketFilter>& filters) {
    if (filters == known_)
        return;
    known_.clear(); // is tried again if it fails
    auto& home = *pipeline_.home;
    for (auto& known : home.filter)
        store(known.length, 0);
    if (!filters.empty())
        store(home.listening, 1);
    if (!letFramesPass())
        return;
    if (filters.empty())
        store(home.listening, 0);
    for (std::size_t i = 0; i < filters.size(); ++i) {
        auto& known = home.filter[i];
        std::ranges::transform(filters[i], std::begin(known.instructions),
                               [](const auto& instruction) { return std::bit_cast<__u64>(instruction); });
        store(known.length, filters[i].size());
    }
    known_ = filters;
}

} // namespace tna::deploy
