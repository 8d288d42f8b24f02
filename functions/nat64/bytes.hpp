// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tna::nat64 {

[[nodiscard]] inline std::uint16_t load16(const std::uint8_t* at) {
    return static_cast<std::uint16_t>(at[0] << 8U | at[1]);
}
[[nodiscard]] inline std::uint32_t load32(const std::uint8_t* at) {
    return static_cast<std::uint32_t>(load16(at)) << 16U | load16(at + 2);
}
inline void store16(std::uint8_t* at, std::uint32_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 8U);
    at[1] = static_cast<std::uint8_t>(value);
}
inline void store32(std::uint8_t* at, std::uint32_t value) {
    store16(at, value >> 16U);
    store16(at + 2, value);
}

/// A sum in ones' complement, as the Internet's checksums are made of.
[[nodiscard]] inline std::uint16_t fold(std::uint64_t sum) {
    while (sum >> 16U != 0)
        sum = (sum & 0xffffU) + (sum >> 16U);
    return static_cast<std::uint16_t>(sum);
}
[[nodiscard]] inline std::uint16_t sumOf(std::span<const std::uint8_t> bytes) {
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (; at + 1 < bytes.size(); at += 2)
        sum += load16(&bytes[at]);
    if (at < bytes.size())
        sum += static_cast<std::uint32_t>(bytes[at]) << 8U;
    return fold(sum);
}
[[nodiscard]] inline std::uint16_t sumOf(std::uint32_t value) {
    return fold(value);
}

/// The checksum after what sums up to `before` has become what sums up to `after` (RFC 1624, equation 3).
[[nodiscard]] inline std::uint16_t adjusted(std::uint16_t checksum, std::uint16_t before,
                                            std::uint16_t after) {
    const std::uint32_t sum = static_cast<std::uint16_t>(~checksum) +
                              static_cast<std::uint32_t>(static_cast<std::uint16_t>(~before)) + after;
    return static_cast<std::uint16_t>(~fold(sum));
}

} // namespace tna::nat64
