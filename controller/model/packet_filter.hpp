// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace tna::model {

/// An instruction of classic BPF, laid out as struct sock_filter.
struct FilterInstruction {
    std::uint16_t code = 0;
    std::uint8_t onTrue = 0;  ///< so many instructions are skipped
    std::uint8_t onFalse = 0; ///< the same
    std::uint32_t operand = 0;
    auto operator<=>(const FilterInstruction&) const = default;
};

/// What a packet socket asks of a frame before it takes it.
using PacketFilter = std::vector<FilterInstruction>;

} // namespace tna::model
