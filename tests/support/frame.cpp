// SPDX-License-Identifier: Apache-2.0
#include "support/frame.hpp"

#include <fmt/format.h>
#include <ostream>

namespace tna::test {

namespace {
void put16(std::vector<std::uint8_t>& bytes, unsigned value) {
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

void set16(std::vector<std::uint8_t>& bytes, std::size_t at, unsigned value) {
    bytes[at] = static_cast<std::uint8_t>(value >> 8U);
    bytes[at + 1] = static_cast<std::uint8_t>(value);
}
} // namespace

void PrintTo(const Frame& frame, std::ostream* out) {
    *out << frame.bytes.size() << " bytes";
    for (std::size_t i = 0; i < frame.bytes.size(); i++)
        *out << (i % 16 == 0 ? fmt::format("\n  {:04x} ", i) : "") << fmt::format(" {:02x}", frame.bytes[i]);
}

Mac station(unsigned number) {
    return {2, 0, 0, 0, static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)};
}

FrameBuilder& FrameBuilder::ethernet(const Mac& destination, const Mac& source) {
    bytes_.assign(destination.begin(), destination.end());
    bytes_.insert(bytes_.end(), source.begin(), source.end());
    return *this;
}

FrameBuilder& FrameBuilder::vlan(std::uint16_t protocol, std::uint16_t tci) {
    put16(bytes_, protocol);
    put16(bytes_, tci);
    return *this;
}

FrameBuilder& FrameBuilder::etherType(std::uint16_t type) {
    put16(bytes_, type);
    return *this;
}

Frame FrameBuilder::udp(std::size_t payload) const {
    constexpr std::size_t ipHeader = 20;
    constexpr std::size_t udpHeader = 8;
    auto bytes = bytes_;
    put16(bytes, 0x0800);
    const std::size_t ip = bytes.size();
    const auto length = static_cast<unsigned>(ipHeader + udpHeader + payload);
    const std::array<std::uint8_t, ipHeader> header{0x45, 0, 0,  0, 0, 1, 0,  0, 64, 17,
                                                    0,    0, 10, 0, 0, 1, 10, 0, 0,  2};
    bytes.insert(bytes.end(), header.begin(), header.end());
    set16(bytes, ip + 2, length);
    set16(bytes, ip + 10, internetChecksum(&bytes[ip], ipHeader));
    const std::size_t udp = bytes.size();
    put16(bytes, 4000);
    put16(bytes, 4001);
    put16(bytes, static_cast<unsigned>(udpHeader + payload));
    put16(bytes, 0);
    for (std::size_t i = 0; i < payload; i++)
        bytes.push_back(static_cast<std::uint8_t>(i));
    const auto udpLength = static_cast<std::uint32_t>(udpHeader + payload);
    std::uint32_t pseudo = 17 + udpLength;
    for (std::size_t i = ip + 12; i < ip + 20; i += 2)
        pseudo += static_cast<std::uint32_t>(bytes[i]) << 8U | bytes[i + 1];
    set16(bytes, udp + 6, internetChecksum(&bytes[udp], udpLength, pseudo));
    return {std::move(bytes)};
}

Frame FrameBuilder::raw(std::size_t count) const {
    auto bytes = bytes_;
    for (std::size_t i = 0; i < count; i++)
        bytes.push_back(static_cast<std::uint8_t>(i));
    return {std::move(bytes)};
}

} // namespace tna::test
