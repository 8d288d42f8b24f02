// SPDX-License-Identifier: Apache-2.0
#include "packet.hpp"

#include "bytes.hpp"

#include <algorithm>

namespace tna::nat64 {

namespace {

enum Extension : std::uint8_t { hopByHop = 0, routing = 43, fragment = 44, destinationOptions = 60 };

/// Whether a source route wants the packet to go elsewhere.
bool hasUnfinishedRoute(std::span<const std::uint8_t> options) {
    constexpr std::uint8_t end = 0, nothing = 1, loose = 131, strict = 137;
    std::size_t at = 0;
    while (at < options.size() && options[at] != end) {
        if (options[at] == nothing) {
            at++;
            continue;
        }
        if (at + 1 >= options.size() || options[at + 1] < 2)
            return false;
        const auto length = options[at + 1];
        if ((options[at] == loose || options[at] == strict) && at + 2 < options.size() &&
            options[at + 2] <= length)
            return true;
        at += length;
    }
    return false;
}

/// Whether what translation looks at is there: all of it in a whole packet, any of it in one that is quoted.
bool isLongEnough(const Parsed& parsed) {
    if (parsed.offset != 0)
        return true;
    switch (parsed.protocol) {
    case tcp:
        return parsed.present >= 20;
    case udp:
    case udpLite:
    case icmp4:
    case icmp6:
        return parsed.present >= 8;
    case dccp:
        return parsed.present >= 12;
    default:
        return true;
    }
}

Reason finish(Parsed& parsed, Extent extent) {
    if (extent == Extent::quoted)
        return Reason::none;
    if (parsed.more && parsed.stated % 8 != 0)
        return Reason::malformed;
    return isLongEnough(parsed) ? Reason::none : Reason::malformed;
}

/// Goes over the extension headers of IPv6.
class Extensions {
public:
    Extensions(std::span<std::uint8_t> packet, Parsed& parsed) : packet_(packet), parsed_(parsed) {}

    /// Where what is behind them begins, of what has a route that has not ended as well; malformed if that is
    /// behind the packet.
    Reason walk(std::uint8_t next, std::size_t& at) {
        auto against = Reason::none;
        while (true) {
            if (parsed_.isFragment() &&
                (next == hopByHop || next == routing || next == fragment || next == destinationOptions)) {
                return Reason::protocol; // IPv4's fragments would have other lengths
            }
            if (next == fragment) {
                if (!readFragment(at))
                    return Reason::malformed;
            } else if (next == hopByHop || next == routing || next == destinationOptions) {
                if (at + 8 > packet_.size())
                    return Reason::malformed;
                if (next == routing && packet_[at + 3] != 0 && against == Reason::none) {
                    parsed_.place = static_cast<std::uint32_t>(at + 3);
                    against = Reason::routingHeader;
                }
            } else {
                parsed_.protocol = next;
                return against;
            }
            const auto length = next == fragment ? fragmentHeader : (packet_[at + 1] + 1U) * 8U;
            next = packet_[at];
            at += length;
            if (at > packet_.size())
                return Reason::malformed;
        }
    }

private:
    bool readFragment(std::size_t at) {
        if (at + fragmentHeader > packet_.size() || parsed_.atomic)
            return false;
        const auto field = load16(&packet_[at + 2]);
        parsed_.offset = static_cast<std::uint16_t>(field >> 3U);
        parsed_.more = (field & 1U) != 0;
        parsed_.id = load32(&packet_[at + 4]);
        parsed_.atomic = !parsed_.isFragment();
        return true;
    }

    std::span<std::uint8_t> packet_;
    Parsed& parsed_;
};

} // namespace

Reason parse4(std::span<std::uint8_t> packet, Extent extent, Parsed& parsed) {
    if (packet.size() < header4 || packet[0] >> 4U != 4)
        return Reason::malformed;
    const std::size_t header = (packet[0] & 0xfU) * 4U;
    const std::size_t total = load16(&packet[2]);
    if (header < header4 || header > packet.size() || total < header)
        return Reason::malformed;
    if (extent == Extent::whole && (total > packet.size() || sumOf(packet.first(header)) != 0xffff))
        return Reason::malformed;
    const auto field = load16(&packet[6]);
    parsed.traffic = packet[1];
    parsed.id = load16(&packet[4]);
    parsed.dontFragment = (field & 0x4000U) != 0;
    parsed.more = (field & 0x2000U) != 0;
    parsed.offset = field & 0x1fffU;
    parsed.hops = packet[8];
    parsed.protocol = packet[9];
    parsed.source4 = load32(&packet[12]);
    parsed.destination4 = load32(&packet[16]);
    parsed.transport = packet.data() + header;
    parsed.stated = total - header;
    parsed.present = std::min(parsed.stated, packet.size() - header);
    if (extent == Extent::whole && hasUnfinishedRoute(packet.subspan(header4, header - header4)))
        return Reason::sourceRoute;
    return finish(parsed, extent);
}

Reason parse6(std::span<std::uint8_t> packet, Extent extent, Parsed& parsed) {
    if (packet.size() < header6 || packet[0] >> 4U != 6)
        return Reason::malformed;
    const std::size_t total = header6 + load16(&packet[4]);
    if (extent == Extent::whole && total > packet.size())
        return Reason::malformed;
    parsed.traffic = static_cast<std::uint8_t>(load16(packet.data()) >> 4U);
    parsed.hops = packet[7];
    std::copy_n(&packet[8], parsed.source6.size(), parsed.source6.begin());
    std::copy_n(&packet[24], parsed.destination6.size(), parsed.destination6.begin());
    packet = packet.first(std::min(packet.size(), total));
    std::size_t at = header6;
    const auto against = Extensions(packet, parsed).walk(packet[6], at);
    if (against != Reason::none && against != Reason::routingHeader)
        return against;
    parsed.transport = packet.data() + at;
    parsed.stated = total - at;
    parsed.present = packet.size() - at;
    const auto wrong = finish(parsed, extent);
    return wrong != Reason::none ? wrong : against;
}

std::size_t checksumPlace(std::uint8_t protocol) {
    switch (protocol) {
    case tcp:
        return 16;
    case udp:
    case dccp:
    case udpLite:
        return 6;
    default:
        return 0;
    }
}

bool isOfIpv6Only(std::uint8_t protocol) {
    static constexpr std::array numbers{
        hopByHop + 0,           routing + 0, fragment + 0, 51, // AH looks at addresses
        destinationOptions + 0, 135,         139,          140, 59};
    return std::ranges::find(numbers, static_cast<int>(protocol)) != numbers.end();
}

bool isError4(std::uint8_t type) {
    return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

} // namespace tna::nat64
