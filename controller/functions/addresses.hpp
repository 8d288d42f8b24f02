// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tna::functions {

/// Addresses of IPv4 or IPv6 that begin alike.
struct Prefix {
    unsigned version = 0;               ///< 4 or 6
    std::array<std::uint8_t, 16> bytes; ///< of IPv4, the first four
    unsigned length = 0;                ///< bits
    bool operator==(const Prefix&) const = default;
};
/// "192.0.2.0/24", "2001:db8::1"; nothing: it is neither, or has bits behind its length.
[[nodiscard]] std::optional<Prefix> parsePrefix(const std::string& text);

/// Port numbers, both ends included.
struct PortRange {
    unsigned first = 0;
    unsigned last = 0;
    bool operator==(const PortRange&) const = default;
};
/// "53", "1024-2047"
[[nodiscard]] std::optional<PortRange> parsePorts(const std::string& text);

/// Numbers of 16 bits that agree with `value` where `mask` has ones.
struct MaskedNumber {
    unsigned value = 0;
    unsigned mask = 0;
    bool operator==(const MaskedNumber&) const = default;
};
/// The fewest of them that are the range together.
[[nodiscard]] std::vector<MaskedNumber> masksOf(const PortRange& range);

} // namespace tna::functions
