// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tna::wires {

/// A whole Ethernet frame.
using Frame = std::vector<std::uint8_t>;
using Mac = std::array<std::uint8_t, 6>;

[[nodiscard]] std::string text(const Mac& mac);
/// As hexdump shows it, 16 bytes to a line; the beginning of long ones.
[[nodiscard]] std::string text(const Frame& frame);

/// The internet checksum (RFC 1071); an odd byte counts as padded with 0.
[[nodiscard]] std::uint16_t internetChecksum(const std::uint8_t* data, std::size_t size,
                                             std::uint32_t start = 0);

/// Fields of a frame, in network order; 0 where it ends before.
[[nodiscard]] unsigned byteAt(const Frame& frame, std::size_t at);
[[nodiscard]] unsigned wordAt(const Frame& frame, std::size_t at);

} // namespace tna::wires
