// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

namespace tna::nat64 {

Layer2 layer2Of(std::span<const std::uint8_t> frame) {
    constexpr std::uint16_t tag = 0x8100, outerTag = 0x88a8;
    constexpr std::size_t addresses = 12;
    Layer2 layer;
    std::size_t at = addresses;
    for (unsigned tags = 0; at + 2 <= frame.size(); tags++, at += 4) {
        const auto type = load16(&frame[at]);
        if (tags < 2 && (type == tag || type == outerTag))
            continue;
        layer.length = at + 2;
        std::ranges::copy(frame.first(layer.length), layer.bytes.begin());
        break;
    }
    return layer;
}

Outcome translateFrame(Translator& translator, Buffer& frame, std::uint32_t now) {
    auto layer = layer2Of(frame.bytes());
    if (layer.length == 0)
        return {Fate::leftAlone, Reason::notIp};
    Buffer packet{frame.begin + layer.length, frame.data + layer.length, frame.length - layer.length};
    const auto type = layer.etherType();
    if ((type != etherType4 && type != etherType6) || packet.length == 0)
        return {Fate::leftAlone, Reason::notIp};
    if (packet.isSix() != (type == etherType6))
        return {Fate::leftAlone, Reason::malformed};
    const auto outcome = translator.translate(packet, now);
    if (outcome.fate == Fate::leftAlone || outcome.fate == Fate::spoilt)
        return outcome;
    frame.data = packet.data - layer.length;
    frame.length = packet.length + layer.length;
    store16(&layer.bytes[layer.length - 2], packet.isSix() ? etherType6 : etherType4);
    std::ranges::copy(std::span(layer.bytes).first(layer.length), frame.data);
    return outcome;
}

} // namespace tna::nat64
