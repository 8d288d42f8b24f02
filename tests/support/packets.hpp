// SPDX-License-Identifier: Apache-2.0
// Packets for tests, with checksums that are computed from scratch by code of their own.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace tna::packets {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint8_t icmp4 = 1, tcp = 6, udp = 17, icmp6 = 58;

/// The Internet's checksum, as in RFC 1071's own example.
inline std::uint16_t checksumOf(const Bytes& bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i++)
        sum += static_cast<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8U : 0U);
    while (sum > 0xffff)
        sum = (sum & 0xffffU) + (sum >> 16U);
    return static_cast<std::uint16_t>(~sum);
}

struct Flow {
    std::string from, to; ///< addresses of one version
    std::uint16_t fromPort = 4000, toPort = 53;
    bool operator==(const Flow&) const = default;
};

inline bool isSix(const Flow& flow) {
    return flow.from.find(':') != std::string::npos;
}

/// What the pseudo header has.
inline Bytes pseudoOf(const Flow& flow, std::uint8_t protocol, std::size_t length) {
    Bytes bytes;
    for (const auto& text : {flow.from, flow.to}) {
        std::array<std::uint8_t, 16> address{};
        ::inet_pton(isSix(flow) ? AF_INET6 : AF_INET, text.c_str(), address.data());
        bytes.insert(bytes.end(), address.begin(), address.begin() + (isSix(flow) ? 16 : 4));
    }
    for (const auto value : {std::size_t{0}, std::size_t{0}, length >> 8U, length & 0xffU, std::size_t{0},
                             std::size_t{protocol}})
        bytes.push_back(static_cast<std::uint8_t>(value));
    return bytes;
}

inline void setChecksum(Bytes& bytes, std::size_t place, Bytes before) {
    bytes[place] = bytes[place + 1] = 0;
    before.insert(before.end(), bytes.begin(), bytes.end());
    const auto checksum = checksumOf(before);
    bytes[place] = static_cast<std::uint8_t>(checksum >> 8U);
    bytes[place + 1] = static_cast<std::uint8_t>(checksum);
}

struct More {
    std::uint16_t id = 0;       ///< of IPv4
    std::uint16_t fragment = 0; ///< flags and offset of IPv4; IPv6 with a fragment header if not 0
    bool dontFragment = true;
};

/// An IP header before that.
inline Bytes packetOf(const Flow& flow, std::uint8_t protocol, Bytes transport, const More& more = {}) {
    Bytes bytes;
    const auto length = transport.size();
    if (isSix(flow)) {
        bytes = {
            0x60,     0, 0, 0, static_cast<std::uint8_t>(length >> 8U), static_cast<std::uint8_t>(length),
            protocol, 64};
    } else {
        const auto total = length + 20;
        const auto flags = static_cast<std::uint16_t>(more.fragment | (more.dontFragment ? 0x4000U : 0U));
        bytes = {0x45,
                 0,
                 static_cast<std::uint8_t>(total >> 8U),
                 static_cast<std::uint8_t>(total),
                 static_cast<std::uint8_t>(more.id >> 8U),
                 static_cast<std::uint8_t>(more.id),
                 static_cast<std::uint8_t>(flags >> 8U),
                 static_cast<std::uint8_t>(flags),
                 64,
                 protocol,
                 0,
                 0};
    }
    const auto addresses = pseudoOf(flow, 0, 0);
    bytes.insert(bytes.end(), addresses.begin(), addresses.end() - 6);
    if (!isSix(flow))
        setChecksum(bytes, 10, {});
    bytes.insert(bytes.end(), transport.begin(), transport.end());
    return bytes;
}

inline Bytes ports(const Flow& flow) {
    return {static_cast<std::uint8_t>(flow.fromPort >> 8U), static_cast<std::uint8_t>(flow.fromPort),
            static_cast<std::uint8_t>(flow.toPort >> 8U), static_cast<std::uint8_t>(flow.toPort)};
}

inline Bytes udpOf(const Flow& flow, const Bytes& payload) {
    auto bytes = ports(flow);
    const auto length = payload.size() + 8;
    bytes.insert(bytes.end(),
                 {static_cast<std::uint8_t>(length >> 8U), static_cast<std::uint8_t>(length), 0, 0});
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    setChecksum(bytes, 6, pseudoOf(flow, udp, length));
    if (bytes[6] == 0 && bytes[7] == 0)
        bytes[6] = bytes[7] = 0xff;
    return bytes;
}

inline Bytes tcpOf(const Flow& flow, std::uint8_t flags, const Bytes& payload = {}) {
    auto bytes = ports(flow);
    bytes.insert(bytes.end(), {0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 1, 0, 0, 0, 0, 0});
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    setChecksum(bytes, 16, pseudoOf(flow, tcp, bytes.size()));
    return bytes;
}

/// Of the version that the flow's addresses are of; an echo's identifier is `fromPort`.
inline Bytes icmpOf(const Flow& flow, std::uint8_t type, std::uint8_t code, const Bytes& rest) {
    Bytes bytes{type, code, 0, 0};
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    setChecksum(bytes, 2, isSix(flow) ? pseudoOf(flow, icmp6, bytes.size()) : Bytes{});
    return bytes;
}

inline Bytes udpPacket(const Flow& flow, const Bytes& payload = Bytes(20, 7), const More& more = {}) {
    return packetOf(flow, udp, udpOf(flow, payload), more);
}
inline Bytes tcpPacket(const Flow& flow, std::uint8_t flags, const Bytes& payload = {},
                       const More& more = {}) {
    return packetOf(flow, tcp, tcpOf(flow, flags, payload), more);
}
inline Bytes echoPacket(const Flow& flow, std::uint8_t type, std::uint16_t id, const More& more = {}) {
    const Bytes rest{static_cast<std::uint8_t>(id >> 8U), static_cast<std::uint8_t>(id), 0, 1, 5, 6, 7};
    return packetOf(flow, isSix(flow) ? icmp6 : icmp4, icmpOf(flow, type, 0, rest), more);
}
/// `rest` is what is behind the checksum, before the packet that is quoted.
inline Bytes errorPacket(const Flow& flow, std::uint8_t type, std::uint8_t code, const Bytes& quoted,
                         Bytes rest = {0, 0, 0, 0}, const More& more = {}) {
    rest.insert(rest.end(), quoted.begin(), quoted.end());
    return packetOf(flow, isSix(flow) ? icmp6 : icmp4, icmpOf(flow, type, code, rest), more);
}

inline std::string hex(const Bytes& bytes) {
    std::string text;
    for (const auto byte : bytes)
        text += fmt::format("{:02x}", byte);
    return text;
}

} // namespace tna::packets
