// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <array>

namespace tna::balancer {

namespace {
using Frame = std::span<std::uint8_t>;

void setWord(Frame frame, std::size_t at, std::uint16_t value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8U);
    frame[at + 1] = static_cast<std::uint8_t>(value);
}

/// How much a sum of words changes: that of ~old + new (RFC 1624, equation 3).
class Difference {
public:
    void add(std::uint16_t before, std::uint16_t after) {
        sum_ += static_cast<std::uint16_t>(~before);
        sum_ += after;
    }
    /// What a checksum becomes.
    [[nodiscard]] std::uint16_t appliedTo(std::uint16_t checksum) const {
        std::uint64_t sum = static_cast<std::uint16_t>(~checksum) + sum_;
        while (sum > 0xffff)
            sum = (sum & 0xffffU) + (sum >> 16U);
        return static_cast<std::uint16_t>(~sum);
    }

private:
    std::uint64_t sum_ = 0;
};

void replaceWord(Frame frame, std::size_t at, std::uint16_t value, Difference& difference) {
    difference.add(word(frame, at), value);
    setWord(frame, at, value);
}

/// The address's own words are what changes; `difference` of sums that they are in.
void replaceAddress(Frame frame, const Headers& headers, Side side, const Address& address,
                    Difference& difference) {
    const bool four = address.isFour();
    const std::size_t length = four ? 4 : 16;
    const auto at = headers.network + (four ? 12 : 8) + (side == Side::to ? length : 0);
    const std::span<const std::uint8_t> words{address.data(), length};
    for (std::size_t i = 0; i < length; i += 2)
        replaceWord(frame, at + i, word(words, i), difference);
}

constexpr std::size_t checksum4 = 10;

/// IPv6 has none.
void finishNetwork(Frame frame, const Headers& headers, bool four, const Difference& difference) {
    if (const auto at = headers.network + checksum4; four)
        setWord(frame, at, difference.appliedTo(word(frame, at)));
}

/// Where the checksum of TCP or UDP is, if there is one: errors do not quote as far as TCP's, and UDP can do
/// without.
std::size_t checksumOf(Frame frame, const Headers& headers) {
    const auto at = headers.transport + (headers.protocol == tcp ? 16 : 6);
    if (at + 2 > headers.end || (headers.protocol == udp && word(frame, at) == 0))
        return 0;
    return at;
}

std::uint16_t changed(std::uint16_t checksum, std::uint8_t protocol, const Difference& difference) {
    const auto value = difference.appliedTo(checksum);
    return protocol == udp && value == 0 ? 0xffff : value; // 0 would say that there is none
}
} // namespace

void setEndpoint(Frame frame, const Packet& packet, Side side, const Endpoint& endpoint) {
    const auto& headers = packet.outer;
    Difference difference;
    replaceAddress(frame, headers, side, endpoint.address, difference);
    finishNetwork(frame, headers, endpoint.address.isFour(), difference);
    replaceWord(frame, headers.transport + (side == Side::to ? 2 : 0), endpoint.port, difference);
    if (const auto at = checksumOf(frame, headers))
        setWord(frame, at, changed(word(frame, at), headers.protocol, difference));
}

void setQuoted(Frame frame, const Packet& packet, Side side, const Endpoint& endpoint) {
    const auto& headers = packet.quoted;
    const bool four = endpoint.address.isFour();
    Difference inner, outer;
    replaceAddress(frame, headers, side, endpoint.address, inner);
    outer = inner;
    if (const auto at = headers.network + checksum4; four)
        replaceWord(frame, at, inner.appliedTo(word(frame, at)), outer);
    const auto port = headers.transport + (side == Side::to ? 2 : 0);
    outer.add(word(frame, port), endpoint.port);
    replaceWord(frame, port, endpoint.port, inner);
    if (const auto at = checksumOf(frame, headers))
        replaceWord(frame, at, changed(word(frame, at), headers.protocol, inner), outer);
    const auto at = packet.outer.transport + 2;
    setWord(frame, at, outer.appliedTo(word(frame, at)));
}

void setAddress(Frame frame, const Packet& packet, Side side, const Address& address) {
    Difference difference;
    replaceAddress(frame, packet.outer, side, address, difference);
    finishNetwork(frame, packet.outer, address.isFour(), difference);
    // ICMP of IPv6 has the addresses in its checksum.
    if (const auto at = packet.outer.transport + 2; !address.isFour())
        setWord(frame, at, difference.appliedTo(word(frame, at)));
}

} // namespace tna::balancer
