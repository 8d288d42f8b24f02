// SPDX-License-Identifier: Apache-2.0
#include "diff/unasked.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace tna::diff {

namespace {
constexpr std::size_t minimum = 20, checksum = 10; ///< of a header of IPv4
constexpr unsigned ipv4 = 0x0800, arp = 0x0806, ipv6 = 0x86dd;
constexpr unsigned icmp = 1, igmp = 2, icmpv6 = 58;

/// Of all that leaves a router, also of what it forwards.
bool fromOwnDevice(const Frame& frame, const Own& own) {
    Mac source{};
    if (frame.size() < ethernet)
        return false;
    std::copy_n(frame.begin() + 6, source.size(), source.begin());
    return own.macs.contains(source);
}

std::uint32_t address4At(const Frame& frame, std::size_t at) {
    return std::uint32_t{wordAt(frame, at)} << 16U | wordAt(frame, at + 2);
}

/// What complains about a translated connection does it from an address of that; no host's message has as
/// many hops left when it has been forwarded.
constexpr unsigned wholeLife = 64;

/// Of a packet: whether a host with these addresses made it itself.
bool fromOwnAddress4(const Frame& frame, std::size_t at, const Own& own) {
    const auto source = address4At(frame, at + 12);
    return source == 0 || (byteAt(frame, at + 9) == icmp && byteAt(frame, at + 8) == wholeLife) ||
           std::ranges::any_of(own.ipv4, [&](const Net4& net) { return (source & net.mask) == net.address; });
}

bool fromOwnAddress6(const Frame& frame, std::size_t at, const Own& own) {
    std::array<std::uint8_t, 16> source{};
    for (std::size_t i = 0; i < source.size(); i++)
        source[i] = static_cast<std::uint8_t>(byteAt(frame, at + 8 + i));
    const bool ofTheLink = source[0] == 0xfe && (source[1] & 0xc0U) == 0x80; // that is never forwarded
    return ofTheLink || own.ipv6.contains(source) || source == std::array<std::uint8_t, 16>{} ||
           (byteAt(frame, at + 6) == icmpv6 && byteAt(frame, at + 7) == wholeLife);
}

bool toGroup(const Frame& frame) {
    return (byteAt(frame, 0) & 1U) != 0;
}

bool spanningTree(const Frame& frame) {
    return frame.size() > 5 && frame[0] == 1 && frame[1] == 0x80 && frame[2] == 0xc2 && frame[5] == 0;
}

/// What batman-adv says of itself to its neighbours, once a second (IV_OGM, ELP, OGM2).
bool meshing(const Frame& frame) {
    constexpr unsigned batman = 0x4305;
    const auto kind = byteAt(frame, ethernet);
    return wordAt(frame, ethernet - 2) == batman && (kind == 0 || kind == 3 || kind == 4);
}

constexpr unsigned redirect4 = 5, redirect6 = 137;

/// Where ICMP begins in a frame of IPv4.
std::size_t messageIn(const Frame& frame) {
    return ethernet + std::size_t{4} * (byteAt(frame, ethernet) & 15U);
}

bool limited4(const Frame& frame) {
    const auto protocol = byteAt(frame, ethernet + 9);
    const auto type = byteAt(frame, messageIn(frame)), code = byteAt(frame, messageIn(frame) + 1);
    constexpr unsigned unreachable = 3, exceeded = 11, timestamp = 14;
    return (protocol == igmp && toGroup(frame)) ||
           (protocol == icmp && ((type == unreachable && (code == 0 || code == 1 || code == 13)) ||
                                 type == redirect4 || (type == exceeded && code == 1) || type == timestamp));
}

bool limited6(const Frame& frame) {
    // Reports and queries are behind a hop-by-hop header.
    if (byteAt(frame, ethernet + 6) == 0 && byteAt(frame, ethernet + 40) == icmpv6)
        return toGroup(frame);
    if (byteAt(frame, ethernet + 6) != icmpv6)
        return false;
    const auto type = byteAt(frame, ethernet + 40), code = byteAt(frame, ethernet + 41);
    constexpr unsigned unreachable = 1, exceeded = 3, routerSolicitation = 133, neighbourSolicitation = 135;
    return (type >= routerSolicitation && type <= neighbourSolicitation) || type == redirect6 ||
           (type == unreachable && code == 3) || (type == exceeded && code == 1);
}

constexpr std::ptrdiff_t addresses = 12, tag = 4;

/// What VLAN devices send.
bool tagged(const Frame& frame) {
    constexpr unsigned customer = 0x8100, service = 0x88a8;
    const auto type = wordAt(frame, ethernet - 2);
    return frame.size() > ethernet + tag && (type == customer || type == service);
}

Frame withoutTag(Frame frame) {
    frame.erase(frame.begin() + addresses, frame.begin() + addresses + tag);
    return frame;
}

void forget(Frame& frame, std::size_t from, std::size_t size) {
    for (std::size_t i = from; i < std::min(from + size, frame.size()); i++)
        frame[i] = 0;
}

std::size_t headerSize(const Frame& frame, std::size_t at) {
    return std::max<std::size_t>(std::size_t{4} * (byteAt(frame, at) & 15U), minimum);
}

/// Changes bytes that a checksum is about; sets it right again if it was.
void change(Frame& frame, std::size_t from, std::size_t size, std::size_t place,
            const std::function<void()>& how) {
    const auto end = std::min(from + size, frame.size());
    if (from >= end)
        return;
    const auto before = frame;
    const bool right = internetChecksum(&frame[from], end - from) == 0;
    how();
    if (!right || frame == before || place + 2 > end)
        return;
    forget(frame, place, 2);
    const auto sum = internetChecksum(&frame[from], end - from);
    frame[place] = static_cast<std::uint8_t>(sum >> 8U);
    frame[place + 1] = static_cast<std::uint8_t>(sum);
}

/// Of a header of IPv4 in which a router may have written the time. Whether that may be.
bool forgetTime(Frame& frame, std::size_t at) {
    constexpr std::uint8_t timestamp = 0x44;
    const auto end = std::min(at + headerSize(frame, at), frame.size());
    const auto options = frame.begin() + static_cast<std::ptrdiff_t>(std::min(at + minimum, end));
    const auto after = frame.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::find(options, after, timestamp) == after)
        return false;
    std::fill(options, after, 0);
    return true;
}

/// Of UDP, whether it is VXLAN or Geneve, both of which have eight bytes in front of a frame.
bool carriesFrame(const Frame& frame, std::size_t at) {
    const auto port = wordAt(frame, at + headerSize(frame, at) + 2);
    return byteAt(frame, at + 9) == 17 && (port == 4789 || port == 6081);
}

/// Of the host's own tunnels, which number what they send by chance: IP in IP, GRE, VXLAN and Geneve.
bool tunnelled(const Frame& frame, std::size_t at) {
    const auto protocol = byteAt(frame, at + 9);
    return protocol == 4 || protocol == 41 || protocol == 47 || carriesFrame(frame, at);
}

/// Of ICMP, whether a message of this type quotes a packet.
bool isError(unsigned type) {
    constexpr unsigned unreachable = 3, exceeded = 11, problem = 12;
    return type == unreachable || type == exceeded || type == problem;
}

/// `numbered`: by chance, by whoever sent it.
void forgetInHeader4(Frame& frame, std::size_t at, bool numbered) {
    if (!numbered && headerSize(frame, at) == minimum)
        return;
    const auto size = headerSize(frame, at);
    const bool right = at + size <= frame.size() && internetChecksum(&frame[at], size) == 0;
    bool time = false;
    change(frame, at, size, at + checksum, [&] {
        time = forgetTime(frame, at);
        if (numbered)
            forget(frame, at + 4, 2);
    });
    if (time && !right) // whom the packet is for writes the time, too, and leaves the sum as it was
        forget(frame, at + checksum, 2);
}

void forgetChance4(Frame& frame, std::size_t at, const Own& own) {
    const bool isIcmp = byteAt(frame, at + 9) == icmp;
    const bool made = fromOwnAddress4(frame, at, own);
    forgetInHeader4(frame, at, made && (isIcmp || tunnelled(frame, at)));
    const auto message = at + headerSize(frame, at);
    const auto length = wordAt(frame, at + 2), quoted = static_cast<unsigned>(message + 8);
    if (!isIcmp || !made || !isError(byteAt(frame, message)) || at + length <= message)
        return;
    change(frame, message, at + length - message, message + 2, [&] {
        forgetInHeader4(frame, quoted, fromOwnAddress4(frame, quoted, own) && tunnelled(frame, quoted));
    });
}

/// Where a packet of IPv4 begins that a packet of IPv6 carries, behind a routing header (seg6) or not.
std::optional<std::size_t> packetOfIpv4Within(const Frame& frame, std::size_t at) {
    constexpr unsigned routing = 43, encapsulated = 4;
    auto next = byteAt(frame, at + 6);
    at += 40;
    if (next == routing) {
        next = byteAt(frame, at);
        at += 8 * (std::size_t{1} + byteAt(frame, at + 1));
    }
    if (next != encapsulated || at + minimum > frame.size())
        return std::nullopt;
    return at;
}

void forgetChance6(Frame& frame, const Own& own) {
    constexpr unsigned fragment = 44;
    constexpr std::size_t header = 40;
    std::array<std::uint8_t, 16> source{};
    if (frame.size() < ethernet + header)
        return;
    if (const auto inner = packetOfIpv4Within(frame, ethernet); inner)
        forgetChance4(frame, *inner, own);
    if (byteAt(frame, ethernet + 6) != fragment)
        return;
    std::copy_n(frame.begin() + ethernet + 8, source.size(), source.begin());
    if (own.ipv6.contains(source))
        forget(frame, ethernet + header + 4, 4);
}
} // namespace

namespace {
/// The frame that a packet of the host's own tunnel carries.
Frame carriedBy(const Frame& frame, std::size_t at) {
    const auto inner = std::min(at + headerSize(frame, at) + 16, frame.size());
    return {frame.begin() + static_cast<std::ptrdiff_t>(inner), frame.end()};
}
} // namespace

bool comesUnasked(const Frame& frame, const Own& own) {
    if (!fromOwnDevice(frame, own))
        return false;
    if (tagged(frame))
        return comesUnasked(withoutTag(frame), own);
    if (wordAt(frame, ethernet - 2) == ipv4 && carriesFrame(frame, ethernet))
        return comesUnasked(carriedBy(frame, ethernet), own);
    constexpr unsigned question = 1;
    const auto type = wordAt(frame, ethernet - 2);
    return spanningTree(frame) || meshing(frame) ||
           (type == arp && wordAt(frame, ethernet + 6) == question) ||
           (type == ipv4 && limited4(frame) && fromOwnAddress4(frame, ethernet, own)) ||
           (type == ipv6 && limited6(frame) && fromOwnAddress6(frame, ethernet, own));
}

std::optional<std::string> redirectedBy(const Frame& frame, const Own& own) {
    if (!fromOwnDevice(frame, own))
        return std::nullopt;
    if (tagged(frame))
        return redirectedBy(withoutTag(frame), own);
    const auto type = wordAt(frame, ethernet - 2);
    if (type == ipv4 && byteAt(frame, ethernet + 9) == icmp && byteAt(frame, messageIn(frame)) == redirect4 &&
        fromOwnAddress4(frame, ethernet, own))
        return fmt::format("{:08x}", address4At(frame, ethernet + 16));
    constexpr std::size_t header = 40;
    if (type != ipv6 || byteAt(frame, ethernet + 6) != icmpv6 ||
        byteAt(frame, ethernet + header) != redirect6 || !fromOwnAddress6(frame, ethernet, own))
        return std::nullopt;
    std::string to;
    for (std::size_t i = 0; i < 4; i++)
        to += fmt::format("{:08x}", address4At(frame, ethernet + 24 + 4 * i));
    return to;
}

bool quotesUnasked(const Frame& packet, const Own& own) {
    if (packet.size() < minimum || byteAt(packet, 9) != icmp)
        return false;
    const auto message = headerSize(packet, 0), quoted = message + 8;
    const bool noNeighbour = byteAt(packet, message) == 3 && byteAt(packet, message + 1) == 1;
    return isError(byteAt(packet, message)) && carriesFrame(packet, quoted) &&
           (noNeighbour || comesUnasked(carriedBy(packet, quoted), own));
}

void forgetChance(Frame& frame, const Own& own) {
    if (frame.size() < ethernet + minimum || !fromOwnDevice(frame, own))
        return;
    if (tagged(frame)) { // as it is behind the tag
        auto inner = withoutTag(frame);
        forgetChance(inner, own);
        std::copy(inner.begin() + addresses, inner.end(), frame.begin() + addresses + tag);
        return;
    }
    const auto type = wordAt(frame, ethernet - 2);
    if (type == ipv4)
        forgetChance4(frame, ethernet, own);
    if (type == ipv6)
        forgetChance6(frame, own);
}

void forgetChanceInPacket(Frame& packet, const Own& own) {
    if (packet.size() >= minimum)
        forgetChance4(packet, 0, own);
}

} // namespace tna::diff
