// SPDX-License-Identifier: Apache-2.0
// Frames for tna-nat64, one behind the other: it stays within the memory that it has, leaves alone what it
// does not translate, and what it makes has right lengths, and right checksums where those were right.
#include "frame.hpp"
#include "fuzz/guided/target.hpp"
#include "unit/nat64/packets.hpp"

#include <memory>

namespace tna::fuzz {

namespace {

namespace nat = nat64;
using nat::test::Bytes;

enum Mode : std::uint8_t { stateful = 1, filtering = 2, zeroDropped = 4, checksumsRight = 8, priv = 16 };

nat::Settings settingsOf(std::uint8_t mode) {
    nat::Settings settings;
    settings.addresses = {nat::Prefix::parse("64:ff9b::/96").value(), (mode & priv) != 0};
    settings.limits.dropZeroChecksum = (mode & zeroDropped) != 0;
    if ((mode & stateful) != 0) {
        require(settings.pool.add("203.0.113.5:4000-4003").has_value(), "no pool");
        settings.sessions.most = 8;
        settings.sessions.filterAddress = (mode & filtering) != 0;
    } else {
        require(settings.maps.add("203.0.113.5=2001:db8::1").has_value(), "no map");
        require(settings.maps.add("203.0.113.6=2001:db8::6").has_value(), "no second map");
        settings.errorSource = 0xcb007107;
    }
    return settings;
}

/// What a checksum of transport protocols is over, from scratch; empty: there is none here.
Bytes checkedBytes(const Bytes& packet, std::size_t& place) {
    nat::Parsed parsed;
    auto copy = packet;
    const bool six = packet[0] >> 4U == 6;
    const auto reason =
        six ? parse6(copy, nat::Extent::whole, parsed) : parse4(copy, nat::Extent::whole, parsed);
    if (reason != nat::Reason::none || parsed.isFragment() || parsed.present != parsed.stated)
        return {};
    const bool icmp = parsed.protocol == nat::icmp4 || parsed.protocol == nat::icmp6;
    const auto at = icmp ? 2 : nat::checksumPlace(parsed.protocol);
    if (at == 0 || (icmp && (parsed.protocol == nat::icmp6) != six))
        return {};
    if (parsed.protocol == nat::udp &&
        (nat::load16(parsed.transport + at) == 0 || nat::load16(parsed.transport + 4) != parsed.stated))
        return {}; // has none, or is of other bytes
    const nat::test::Flow flow =
        six ? nat::test::Flow{nat::text(parsed.source6), nat::text(parsed.destination6)}
            : nat::test::Flow{nat::text(parsed.source4), nat::text(parsed.destination4)};
    auto bytes = icmp && !six ? Bytes{} : nat::test::pseudoOf(flow, parsed.protocol, parsed.stated);
    place = bytes.size() + at;
    bytes.insert(bytes.end(), parsed.transport, parsed.transport + parsed.present);
    return bytes;
}

bool hasRightChecksum(const Bytes& packet) {
    std::size_t place = 0;
    const auto bytes = checkedBytes(packet, place);
    return bytes.empty() || nat::test::checksumOf(bytes) == 0;
}

void correct(Bytes& packet) {
    if (packet.size() >= 20 && packet[0] == 0x45) {
        Bytes header(packet.begin(), packet.begin() + 20);
        nat::test::setChecksum(header, 10, {});
        std::ranges::copy(header, packet.begin());
    }
    std::size_t place = 0;
    auto bytes = packet.empty() ? Bytes{} : checkedBytes(packet, place);
    if (bytes.empty())
        return;
    nat::test::setChecksum(bytes, place, {});
    nat::Parsed parsed;
    if (packet[0] >> 4U == 6)
        (void)parse6(packet, nat::Extent::whole, parsed);
    else
        (void)parse4(packet, nat::Extent::whole, parsed);
    std::copy(bytes.end() - static_cast<std::ptrdiff_t>(parsed.present), bytes.end(), parsed.transport);
}

void treat(nat::Translator& translator, Bytes packet, std::size_t room, bool right, std::uint32_t now) {
    if (right)
        correct(packet);
    const bool wasRight = right && !packet.empty() && hasRightChecksum(packet);
    const bool six = !packet.empty() && packet[0] >> 4U == 6;
    // as long as it has to be, so that what is behind it is somebody else's
    const auto whole = room + 14 + packet.size();
    const std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[whole]());
    auto* const frame = memory.get() + room;
    frame[12] = six ? 0x86 : 0x08;
    frame[13] = six ? 0xdd : 0x00;
    std::ranges::copy(packet, frame + 14);
    nat::Buffer buffer{memory.get(), frame, 14 + packet.size()};
    const auto outcome = translateFrame(translator, buffer, now);
    if (outcome.fate == nat::Fate::leftAlone) {
        require(buffer.data == frame && buffer.length == 14 + packet.size() &&
                    std::equal(packet.begin(), packet.end(), frame + 14),
                "it was changed");
        require(outcome.reason != nat::Reason::none, "there is no reason");
        return;
    }
    if (outcome.fate == nat::Fate::spoilt) {
        require(buffer.data == frame && buffer.length == 14 + packet.size(), "it is somewhere else");
        return;
    }
    require(buffer.data >= memory.get() && buffer.data + buffer.length <= memory.get() + whole,
            "it is outside of the memory");
    const Bytes result(buffer.data + 14, buffer.data + buffer.length);
    require(buffer.data[12] == (result[0] >> 4U == 6 ? 0x86 : 0x08), "the type of the frame is wrong");
    nat::Parsed parsed;
    auto copy = result;
    require((result[0] >> 4U == 6 ? parse6(copy, nat::Extent::whole, parsed)
                                  : parse4(copy, nat::Extent::whole, parsed)) == nat::Reason::none,
            "the result is malformed");
    require(!wasRight || outcome.fate == nat::Fate::answered || hasRightChecksum(result),
            "its checksum is wrong");
    if (outcome.fate == nat::Fate::answered)
        require(hasRightChecksum(result), "the answer's checksum is wrong");
    if (nat::isTooLong({nullptr, copy.data(), copy.size()}, 1280)) {
        std::size_t sum = 0;
        nat::split(result, 1280, [&](auto headers, auto piece) {
            require(headers.size() + piece.size() <= 1280, "a fragment is too long");
            sum += piece.size();
        });
        require(sum == result.size() - 48, "fragments lack something");
    }
}

std::string inputOf(std::uint8_t mode, const std::vector<Bytes>& packets) {
    std::string text(1, static_cast<char>(mode));
    text += static_cast<char>(128);
    for (const auto& packet : packets) {
        text += static_cast<char>(packet.size() >> 8U);
        text += static_cast<char>(packet.size());
        text.append(packet.begin(), packet.end());
    }
    return text;
}
} // namespace

std::vector<std::string> seeds() {
    using namespace nat::test;
    const nat::test::Flow out{"2001:db8::1", "64:ff9b::192.0.2.33", 4000, 53};
    const nat::test::Flow back{"192.0.2.33", "203.0.113.5", 53, 4000};
    const auto reversed4 = udpPacket({back.to, back.from, 4000, 53});
    const std::vector<Bytes> packets{
        udpPacket(out),
        udpPacket(back),
        tcpPacket(out, 2),
        tcpPacket(back, 0x12),
        echoPacket(out, 128, 4000),
        echoPacket(back, 0, 4000),
        errorPacket({"198.51.100.1", back.to}, 3, 4, reversed4, {0, 0, 5, 0}),
        errorPacket(out, 1, 4, udpPacket({out.to, out.from, 53, 4000})),
        udpPacket(back, Bytes(1400, 1), {.dontFragment = false}),
        udpPacket({"2001:db8::2", "64:ff9b::203.0.113.5", 5, 4000}),
        udpPacket({"2001:db8::1", "64:ff9b::203.0.113.6", 5, 4000}),
        errorPacket({"2001:db8::6", "64:ff9b::203.0.113.5"}, 1, 4,
                    udpPacket({"64:ff9b::203.0.113.5", "2001:db8::6", 5, 4000})),
    };
    std::vector<std::string> all;
    for (const std::uint8_t mode : {0, 1, 8, 9, 11, 16})
        all.push_back(inputOf(mode, packets));
    for (const auto& packet : packets)
        all.push_back(inputOf(8, {packet}));
    return all;
}

void prepare() {}

void run(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return;
    const auto mode = data[0];
    const std::size_t room = data[1];
    nat::Translator translator(settingsOf(mode));
    std::uint32_t now = 0;
    for (std::size_t at = 2; at + 2 <= size; now++) {
        const std::size_t length =
            std::min<std::size_t>(static_cast<std::size_t>(data[at] << 8U | data[at + 1]), size - at - 2);
        at += 2;
        treat(translator, Bytes(data + at, data + at + length), room, (mode & checksumsRight) != 0, now);
        at += length;
    }
}

} // namespace tna::fuzz
