// SPDX-License-Identifier: Apache-2.0
#include "introspect/station_book.hpp"

#include <utility>

namespace tna::introspect {

namespace {
/// No announcement comes later than this after another one that should have come behind it.
constexpr auto lately = std::chrono::seconds(10);
} // namespace

void StationBook::remove(const model::StationKey& key) {
    trust(key);
    removed_.insert(key);
    if (stations_.erase(key) > 0)
        changed_.insert(key);
}

void StationBook::apply(const model::StationChange& change) {
    if (!change.now) {
        remove(change.key);
        return;
    }
    const auto [it, fresh] = stations_.try_emplace(change.key, *change.now);
    if (!fresh && it->second == *change.now)
        return;
    it->second = *change.now;
    changed_.insert(change.key);
}

void StationBook::doubt(const model::StationKey& key) {
    if (const auto [it, fresh] = doubtful_.try_emplace(key); fresh)
        it->second = questions_.insert(questions_.end(), key);
    changed_.insert(key);
}

void StationBook::trust(const model::StationKey& key) {
    const auto it = doubtful_.find(key);
    if (it == doubtful_.end())
        return;
    questions_.erase(it->second);
    doubtful_.erase(it);
}

bool StationBook::removedLately(const model::StationKey& key) const {
    return removed_.contains(key) || removedBefore_.contains(key);
}

/// What another announcement has said is not simply overwritten.
void StationBook::announced(const model::StationChange& change) {
    const auto known = stations_.find(change.key);
    const bool differs =
        known == stations_.end() ? removedLately(change.key) : change.now && known->second != *change.now;
    apply(change);
    if (change.now && differs)
        doubt(change.key);
    if (compared_)
        compared_->insert(change.key);
}

/// What differs may have been announced meanwhile, or may not: Linux is asked again for each.
void StationBook::compare(const model::StationChange& station) {
    compared_->insert(station.key);
    const auto known = stations_.find(station.key);
    if (known != stations_.end() && known->second == *station.now)
        return;
    apply(station);
    doubt(station.key);
}

std::vector<model::StationKey> StationBook::missingIn(const Keys& found) const {
    std::vector<model::StationKey> missing;
    for (const auto& [key, station] : stations_)
        if (!found.contains(key))
            missing.push_back(key);
    return missing;
}

std::vector<model::StationChange> StationBook::take() {
    std::vector<model::StationChange> changes;
    changes.reserve(changed_.size());
    for (const auto& key : std::exchange(changed_, {})) {
        const auto it = stations_.find(key);
        changes.push_back({key, it == stations_.end() ? std::nullopt : std::optional(it->second)});
        if (doubtful_.contains(key) && changes.back().now)
            changes.back().now->port = model::nowhere;
    }
    return changes;
}

void StationBook::forgetRemoved(Time now) {
    if (now < forgetAt_)
        return;
    forgetAt_ = now + lately;
    removedBefore_ = std::exchange(removed_, {});
}

void StationBook::keepOnly(const Keys& found) {
    for (const auto& key : missingIn(found))
        remove(key);
}

void StationBook::answered(const model::StationKey& key, const std::optional<model::Station>& now) {
    if (!now) {
        remove(key);
        return;
    }
    trust(key);
    changed_.insert(key);
    apply({key, now});
}

void StationBook::endComparison(bool whole) {
    if (whole)
        for (const auto& key : missingIn(*compared_))
            doubt(key);
    compared_.reset();
}

} // namespace tna::introspect
