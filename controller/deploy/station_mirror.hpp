// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/station.hpp"

#include <memory>
#include <tna/fastpath.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tna::deploy {

/// Writes what is known of stations where the watched pipeline finds it.
class StationMirror {
public:
    [[nodiscard]] static Result<StationMirror> open(int stationsMap, int usesMap, unsigned capacity);

    /// Takes effect change by change. Stations that find no room stay unknown to the fast path.
    [[nodiscard]] Result<void> apply(const std::vector<model::StationChange>& changes);

    [[nodiscard]] std::size_t size() const { return indices_.size(); }
    [[nodiscard]] unsigned capacity() const { return capacity_; }
    /// Stations that found no room.
    [[nodiscard]] std::size_t left() const { return left_.size(); }

private:
    struct Unmap {
        std::size_t size;
        void operator()(tna_station_use* memory) const;
    };
    using Uses = std::unique_ptr<tna_station_use[], Unmap>;
    StationMirror(int stationsMap, Uses uses, unsigned capacity);
    [[nodiscard]] Result<void> set(const model::StationKey& key, const model::Station& station);
    void remove(const model::StationKey& key);
    [[nodiscard]] Result<void> fillGaps();

    int map_;
    Uses uses_;
    unsigned capacity_;
    std::unordered_map<model::StationKey, unsigned, model::StationHash> indices_;
    std::unordered_map<model::StationKey, model::Station, model::StationHash> left_;
    std::vector<unsigned> free_;
};

} // namespace tna::deploy
