// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/packets.hpp"
#include "translator.hpp"

namespace tna::nat64::test {

using namespace tna::packets;

inline Address4 v4(const std::string& text) {
    return parseAddress4(text).value();
}
inline Address6 v6(const std::string& text) {
    return parseAddress6(text).value();
}

struct Done {
    Outcome outcome;
    Bytes packet;
};

inline Done translate(Translator& translator, const Bytes& packet, std::uint32_t now = 0) {
    constexpr std::size_t room = 128;
    Bytes memory(room + packet.size());
    std::copy(packet.begin(), packet.end(), memory.begin() + room);
    Buffer buffer{memory.data(), memory.data() + room, packet.size()};
    const auto outcome = translator.translate(buffer, now);
    return {outcome, Bytes(buffer.data, buffer.data + buffer.length)};
}

} // namespace tna::nat64::test
