// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/results/data_path.hpp"
#include "model/station.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <tna/fastpath.h>
#include <unordered_map>
#include <vector>

namespace tna::deploy {

/// Writes what is known of stations where the watched pipeline finds it.
class StationMirror : public StationTable {
public:
    [[nodiscard]] static Result<StationMirror> open(int stationsMap, int usesMap, unsigned capacity);

    [[nodiscard]] Result<void> apply(const std::vector<model::StationChange>& changes) override;
    [[nodiscard]] std::size_t size() const override { return indices_.size(); }
    [[nodiscard]] unsigned capacity() const override { return capacity_; }
    [[nodiscard]] std::size_t left() const override { return free_.empty() ? left_.size() : 0; }
    /// Whether it says nothing that is wrong: the kernel has taken out all that was to go. Else that is tried
    /// again with the next changes.
    [[nodiscard]] bool sound() const { return stuck_.empty(); }

private:
    struct Unmap {
        std::size_t size;
        void operator()(tna_station_use* memory) const;
    };
    using Uses = std::unique_ptr<tna_station_use[], Unmap>;
    StationMirror(int stationsMap, Uses uses, unsigned capacity);
    [[nodiscard]] Result<void> set(const model::StationKey& key, const model::Station& station);
    Result<void> remove(const model::StationKey& key);
    [[nodiscard]] Result<void> fillGaps();

    int map_;
    Uses uses_;
    unsigned capacity_;
    std::unordered_map<model::StationKey, unsigned, model::StationHash> indices_;
    std::unordered_map<model::StationKey, model::Station, model::StationHash> left_; ///< not in the map
    /// Still in the map, but to go; or to become something else.
    std::unordered_map<model::StationKey, std::optional<model::Station>, model::StationHash> stuck_;
    /// The one that is free for longest comes first: a program that still runs may write to a station's last
    /// one.
    std::deque<unsigned> free_;
};

} // namespace tna::deploy
