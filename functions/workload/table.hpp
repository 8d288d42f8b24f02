// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "flows.hpp"

#include <cstddef>
#include <vector>

namespace tna::workload {

/// Finds what belongs to a connection: a place for each, or the next one that was free, at most half of them
/// in use.
class FlowTable {
public:
    /// With room for so many.
    explicit FlowTable(std::size_t most);
    void add(const Flow& flow, const Backend& backend);
    /// Null: it is not there.
    [[nodiscard]] const Backend* find(const Flow& flow) const;

private:
    struct Place {
        Flow flow; ///< of protocol 0: it is free
        Backend backend;
    };
    [[nodiscard]] std::size_t firstPlace(const Flow& flow) const;
    std::vector<Place> places_; ///< a power of two
};

} // namespace tna::workload
