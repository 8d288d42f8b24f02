// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <bit>

namespace tna::workload {

FlowTable::FlowTable(std::size_t most) : places_(std::bit_ceil(2 * most + 1)) {}

std::size_t FlowTable::firstPlace(const Flow& flow) const {
    // The last steps of MurmurHash3: every bit of a flow decides about every bit of its place.
    constexpr std::uint64_t first = 0xff51afd7ed558ccdU, second = 0xc4ceb9fe1a85ec53U;
    const std::uint64_t addresses = static_cast<std::uint64_t>(flow.from) << 32U | flow.to;
    const std::uint64_t rest = static_cast<std::uint64_t>(flow.protocol) << 32U |
                               static_cast<std::uint64_t>(flow.fromPort) << 16U | flow.toPort;
    auto mixed = addresses ^ rest * second;
    mixed = (mixed ^ mixed >> 33U) * first;
    mixed = (mixed ^ mixed >> 33U) * second;
    return (mixed ^ mixed >> 33U) & (places_.size() - 1);
}

void FlowTable::add(const Flow& flow, const Backend& backend) {
    auto place = firstPlace(flow);
    while (places_[place].flow.protocol != 0 && places_[place].flow != flow)
        place = (place + 1) & (places_.size() - 1);
    places_[place] = {flow, backend};
}

const Backend* FlowTable::find(const Flow& flow) const {
    for (auto place = firstPlace(flow); places_[place].flow.protocol != 0;
         place = (place + 1) & (places_.size() - 1))
        if (places_[place].flow == flow)
            return &places_[place].backend;
    return nullptr;
}

} // namespace tna::workload
