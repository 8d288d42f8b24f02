// SPDX-License-Identifier: Apache-2.0
#include "wires/frame.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::wires {

std::string text(const Mac& mac) {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4],
                       mac[5]);
}

std::string text(const Frame& frame) {
    constexpr std::size_t shown = 128;
    std::string lines;
    for (std::size_t i = 0; i < std::min(frame.size(), shown); i++)
        lines += fmt::format("{}{:02x}", i % 16 == 0 ? fmt::format("\n    {:04x}  ", i) : " ", frame[i]);
    return fmt::format("{} bytes{}{}", frame.size(), lines, frame.size() > shown ? " ..." : "");
}

std::uint16_t internetChecksum(const std::uint8_t* data, std::size_t size, std::uint32_t start) {
    std::uint32_t sum = start;
    for (std::size_t i = 0; i + 1 < size; i += 2)
        sum += static_cast<std::uint32_t>(data[i]) << 8U | data[i + 1];
    if (size % 2 != 0)
        sum += static_cast<std::uint32_t>(data[size - 1]) << 8U;
    while (sum >> 16U != 0)
        sum = (sum & 0xffffU) + (sum >> 16U);
    return static_cast<std::uint16_t>(~sum);
}

unsigned byteAt(const Frame& frame, std::size_t at) {
    return at < frame.size() ? frame[at] : 0;
}

unsigned wordAt(const Frame& frame, std::size_t at) {
    return byteAt(frame, at) << 8U | byteAt(frame, at + 1);
}

} // namespace tna::wires
