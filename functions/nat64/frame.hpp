// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "headers.hpp"
#include "translator.hpp"

namespace tna::nat64 {

/// Ethernet's header, with up to two VLAN tags.
struct Layer2 {
    std::array<std::uint8_t, 22> bytes{};
    std::size_t length = 0; ///< 0: the frame has none
    [[nodiscard]] std::uint16_t etherType() const { return load16(&bytes[length - 2]); }
};
[[nodiscard]] Layer2 layer2Of(std::span<const std::uint8_t> frame);
constexpr std::uint16_t etherType4 = 0x0800, etherType6 = 0x86dd;

/// Translates what is in a frame. MAC addresses and tags stay. Its memory begins at `frame.begin`.
[[nodiscard]] Outcome translateFrame(Translator& translator, Buffer& frame, std::uint32_t now);

/// An IPv6 packet that is too long, and has a header for fragments: `take` gets the headers and the contents
/// of each fragment.
template <typename Take>
void split(std::span<const std::uint8_t> packet, std::size_t mtu, Take take) {
    constexpr auto heads = header6 + fragmentHeader;
    const auto most = (mtu - heads) / 8 * 8;
    const auto fragment = packet.subspan(header6, fragmentHeader);
    const auto field = load16(&fragment[2]);
    std::array<std::uint8_t, heads> headers{};
    std::ranges::copy(packet.first(heads), headers.begin());
    auto rest = packet.subspan(heads);
    for (std::uint32_t offset = field >> 3U; !rest.empty();) {
        const auto piece = rest.first(std::min(rest.size(), most));
        rest = rest.subspan(piece.size());
        store16(&headers[4], static_cast<std::uint32_t>(fragmentHeader + piece.size()));
        const bool more = !rest.empty() || (field & 1U) != 0;
        store16(&headers[header6 + 2], offset << 3U | (more ? 1U : 0U));
        take(std::span<const std::uint8_t>(headers), piece);
        offset += static_cast<std::uint32_t>(piece.size() / 8);
    }
}
/// Whether a packet that was made is to be split.
[[nodiscard]] inline bool isTooLong(const Buffer& packet, std::size_t mtu) {
    return packet.isSix() && packet.length > mtu && packet.length > header6 + fragmentHeader &&
           packet.data[6] == fragmentNext;
}

} // namespace tna::nat64
