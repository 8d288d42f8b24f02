// SPDX-License-Identifier: Apache-2.0
#include "diff/random/writer.hpp"

#include <algorithm>

namespace tna::diff {

namespace {
using Bytes = std::vector<std::uint8_t>;
constexpr unsigned icmp4 = 1, tcpNumber = 6, udpNumber = 17, icmp6 = 58;

void set16(Bytes& bytes, std::size_t at, unsigned value) {
    bytes[at] = static_cast<std::uint8_t>(value >> 8U);
    bytes[at + 1] = static_cast<std::uint8_t>(value);
}

void add16(Bytes& bytes, unsigned value) {
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

void add32(Bytes& bytes, std::uint32_t value) {
    add16(bytes, value >> 16U);
    add16(bytes, value & 0xffffU);
}

void fill(Bytes& bytes, std::size_t size, unsigned start) {
    for (std::size_t i = 0; i < size; i++)
        bytes.push_back(static_cast<std::uint8_t>(start + i));
}

std::uint32_t sum16(const std::uint8_t* data, std::size_t size) {
    return static_cast<std::uint16_t>(~internetChecksum(data, size));
}

/// Where the checksum of a protocol is, if it has one.
std::size_t checksumPlace(unsigned protocol) {
    switch (protocol) {
    case icmp4:
    case icmp6:
        return 2;
    case tcpNumber:
        return 16;
    case udpNumber:
        return 6;
    default:
        return 0;
    }
}

void finishUpper(Bytes& payload, unsigned protocol, const std::uint8_t* addresses, std::size_t size) {
    const auto place = checksumPlace(protocol);
    if (place == 0 || payload.size() < place + 2)
        return;
    const std::uint32_t pseudo =
        protocol == icmp4 ? 0
                          : sum16(addresses, size) + protocol + static_cast<std::uint32_t>(payload.size());
    set16(payload, place, 0);
    const auto sum = internetChecksum(payload.data(), payload.size(), pseudo);
    set16(payload, place, sum == 0 && protocol == udpNumber ? 0xffff : sum);
}
} // namespace

Writer::Writer(const Mac& to, const Mac& from) : frame_(to.begin(), to.end()) {
    frame_.insert(frame_.end(), from.begin(), from.end());
}

void Writer::put16(unsigned value) {
    add16(frame_, value);
}

Writer& Writer::tag(unsigned protocol, unsigned tci) {
    put16(protocol);
    put16(tci);
    return *this;
}

Writer& Writer::type(unsigned type) {
    put16(type);
    return *this;
}

Writer& Writer::bytes(const Bytes& more) {
    frame_.insert(frame_.end(), more.begin(), more.end());
    return *this;
}

Writer& Writer::filling(std::size_t size, unsigned start) {
    fill(frame_, size, start);
    return *this;
}

Writer& Writer::packet(const Header4& header, Bytes payload) {
    put16(0x0800);
    Bytes ip{static_cast<std::uint8_t>(0x40U | (20 + header.options.size()) / 4), header.tos};
    add16(ip, static_cast<unsigned>(20 + header.options.size() + payload.size()));
    add16(ip, header.id);
    add16(ip, header.fragment);
    ip.insert(ip.end(), {header.ttl, header.protocol, 0, 0});
    add32(ip, header.from);
    add32(ip, header.to);
    // Fragments have the checksum of a whole that nobody knows here.
    if ((header.fragment & 0x3fffU) == 0)
        finishUpper(payload, header.protocol, &ip[12], 8);
    ip.insert(ip.end(), header.options.begin(), header.options.end());
    set16(ip, 10, internetChecksum(ip.data(), ip.size()));
    return bytes(ip).bytes(payload);
}

Writer& Writer::packet(const Header6& header, Bytes payload) {
    put16(0x86dd);
    Bytes ip;
    add32(ip, 6U << 28U | header.flow);
    add16(ip, static_cast<unsigned>(header.extensions.size() + payload.size()));
    ip.insert(ip.end(), {header.first, header.hops});
    ip.insert(ip.end(), header.from.begin(), header.from.end());
    ip.insert(ip.end(), header.to.begin(), header.to.end());
    if (header.protocol != icmp4)
        finishUpper(payload, header.protocol, &ip[8], 32);
    return bytes(ip).bytes(header.extensions).bytes(payload);
}

Bytes udp(unsigned from, unsigned to, std::size_t size, unsigned start) {
    Bytes bytes;
    add16(bytes, from);
    add16(bytes, to);
    add16(bytes, static_cast<unsigned>(8 + size));
    add16(bytes, 0);
    fill(bytes, size, start);
    return bytes;
}

Bytes tcp(unsigned from, unsigned to, std::size_t size, unsigned start, std::uint32_t sequence,
          std::uint8_t flags) {
    Bytes bytes;
    add16(bytes, from);
    add16(bytes, to);
    add32(bytes, sequence);
    add32(bytes, start);
    bytes.insert(bytes.end(), {0x50, flags, 0x20, 0, 0, 0, 0, 0});
    fill(bytes, size, start);
    return bytes;
}

Bytes icmp(unsigned type, unsigned code, unsigned id, std::size_t size, unsigned start) {
    Bytes bytes{static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(code), 0, 0};
    add16(bytes, id);
    add16(bytes, start);
    fill(bytes, size, start);
    return bytes;
}

void finishHeader4(Frame& frame) {
    if (frame.size() < ethernet + 20)
        return;
    const std::size_t length = std::size_t{4} * (frame[ethernet] & 15U);
    set16(frame, ethernet + 10, 0);
    set16(frame, ethernet + 10,
          internetChecksum(&frame[ethernet], std::min(length, frame.size() - ethernet)));
}

} // namespace tna::diff
