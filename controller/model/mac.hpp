// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace tna::model {

struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};
    auto operator<=>(const MacAddress&) const = default;
    [[nodiscard]] std::string text() const; ///< "02:00:00:00:00:01"
};

} // namespace tna::model
