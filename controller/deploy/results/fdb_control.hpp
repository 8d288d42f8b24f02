// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/station.hpp"

#include <vector>

namespace tna::deploy {

/// Stations that a fast path looks up in a table of its own.
class StationTable {
public:
    virtual ~StationTable() = default;
    StationTable(const StationTable&) = delete;
    StationTable& operator=(const StationTable&) = delete;

    /// Takes effect change by change. Stations that find no room stay unknown to the fast path.
    [[nodiscard]] virtual Result<void> apply(const std::vector<model::StationChange>& changes) = 0;
    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual unsigned capacity() const = 0;
    /// Stations that found no room.
    [[nodiscard]] virtual std::size_t left() const = 0;

protected:
    StationTable() = default;
    StationTable(StationTable&&) = default;
    StationTable& operator=(StationTable&&) = default;
};

/// What a fast path is told of bridges, where frames do not see all of it themselves.
class FdbControl {
public:
    FdbControl() = default;
    virtual ~FdbControl() = default;
    FdbControl(const FdbControl&) = delete;
    FdbControl& operator=(const FdbControl&) = delete;

    /// The copy of the FDB that is to be kept; null: none is needed.
    [[nodiscard]] virtual StationTable* mirror() = 0;
    /// Whether all that Linux knows has been told; else, frames are left to Linux. So they are while the
    /// kernel has not taken out of a map what was to go.
    virtual void open(bool informed) = 0;
};

} // namespace tna::deploy
