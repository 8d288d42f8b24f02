// SPDX-License-Identifier: Apache-2.0
// Whole packets whose results somebody else has computed (vectors.py).
#include "expect.hpp"
#include "frame.hpp"

#include <fstream>
#include <sstream>

namespace tna::nat64::test {
namespace {

Bytes fromHex(const std::string& text) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

Settings ofVectors() {
    Settings settings;
    settings.addresses.prefix = Prefix::parse("64:ff9b::/96").value();
    EXPECT_TRUE(settings.maps.add("198.51.100.1=2001:db8::1"));
    EXPECT_TRUE(settings.maps.add("198.51.100.7=2001:db8:7::9"));
    settings.seed = 0x1234;
    return settings;
}

std::string resultOf(const Done& done) {
    if (done.outcome.reason != Reason::none)
        return std::string(reasonWords[static_cast<std::size_t>(done.outcome.reason)]);
    auto packet = done.packet;
    const Buffer buffer{packet.data(), packet.data(), packet.size()};
    if (!isTooLong(buffer, lowestMtu6))
        return hex(packet);
    std::string text;
    split(packet, lowestMtu6, [&](auto headers, auto piece) {
        text += (text.empty() ? "" : "+") + hex({headers.begin(), headers.end()}) +
                hex({piece.begin(), piece.end()});
    });
    return text;
}

TEST(Vectors, BecomeWhatTheyShould) {
    std::ifstream file(TNA_VECTORS);
    unsigned count = 0;
    for (std::string text; std::getline(file, text);) {
        if (text.starts_with('#'))
            continue;
        std::string name, packet, result;
        std::istringstream(text) >> name >> packet >> result;
        Translator translator(ofVectors());
        EXPECT_EQ(resultOf(translate(translator, fromHex(packet))), result) << name;
        count++;
    }
    EXPECT_EQ(count, 250U);
}

/// In a frame that is longer than its packet, with a tag.
TEST(Vectors, FrameKeepsItsAddressesAndTags) {
    const Flow six{"2001:db8::1", "64:ff9b::c000:221"}, four{"198.51.100.1", "192.0.2.33"};
    Translator translator(ofVectors());
    const Bytes addresses{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0x20, 7};
    const auto frameOf = [&](const Bytes& packet, std::uint8_t high, std::uint8_t low) {
        auto frame = addresses;
        frame.insert(frame.end(), {high, low});
        frame.insert(frame.end(), packet.begin(), packet.end());
        return frame;
    };
    Bytes memory(100);
    auto frame = frameOf(udpPacket(six, {}), 0x86, 0xdd);
    frame.insert(frame.end(), 9, 0xaa);
    memory.insert(memory.end(), frame.begin(), frame.end());
    Buffer buffer{memory.data(), memory.data() + 100, frame.size()};
    EXPECT_EQ(translateFrame(translator, buffer, 0).fate, Fate::translated);
    EXPECT_EQ(hex({buffer.data, buffer.data + buffer.length}),
              hex(frameOf(udpPacket(four, {}, {.id = 0x1234, .dontFragment = false}), 8, 0)));
}

TEST(Vectors, FrameWithoutRoomIsLeftAlone) {
    const Flow four{"192.0.2.33", "198.51.100.1"};
    Translator translator(ofVectors());
    auto packet = udpPacket(four);
    for (std::size_t room = 0; room <= 20; room++) {
        Bytes memory(room);
        memory.insert(memory.end(), packet.begin(), packet.end());
        Buffer buffer{memory.data(), memory.data() + room, packet.size()};
        EXPECT_EQ(translator.translate(buffer, 0).reason, room < 20 ? Reason::noRoom : Reason::none);
    }
}

} // namespace
} // namespace tna::nat64::test
