// SPDX-License-Identifier: Apache-2.0
#include "packet.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>

namespace tna::workload {

namespace {
constexpr std::size_t addressLength = 6;
constexpr std::size_t ethernet = 14;
constexpr std::size_t ip = 20;
constexpr std::size_t transport = ethernet + ip;
constexpr std::size_t udpLength = 8;
constexpr std::size_t tcpLength = 20;
constexpr std::size_t udpChecksum = transport + 6;
constexpr std::size_t tcpChecksum = transport + 16;
constexpr std::size_t etherTypeAt = 12;
constexpr std::size_t lengthAt = ethernet + 2;
constexpr std::size_t fragmentAt = ethernet + 6;
constexpr std::size_t protocolAt = ethernet + 9;
constexpr std::size_t ipChecksumAt = ethernet + 10;
constexpr std::size_t fromAt = ethernet + 12;
constexpr std::size_t toAt = ethernet + 16;
constexpr unsigned char plainHeader = 0x45;
constexpr std::uint16_t fragmentBits = 0x3fff;
constexpr std::uint32_t word = 0xffff;

template <typename T>
T load(std::span<const unsigned char> frame, std::size_t at) {
    T value;
    std::memcpy(&value, frame.data() + at, sizeof(value));
    return value;
}

template <typename T>
void store(std::span<unsigned char> frame, std::size_t at, T value) {
    std::memcpy(frame.data() + at, &value, sizeof(value));
}

std::uint16_t fold(std::uint64_t sum) {
    while (sum > word)
        sum = (sum & word) + (sum >> 16U);
    return static_cast<std::uint16_t>(sum);
}

std::uint64_t sumOf(std::span<const unsigned char> bytes) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2)
        sum += load<std::uint16_t>(bytes, at);
    if (bytes.size() % 2 == 0)
        return sum;
    const std::array<unsigned char, 2> last{bytes.back(), 0};
    return sum + load<std::uint16_t>(last, 0);
}

std::size_t checksumAt(std::span<const unsigned char> frame) {
    return frame[protocolAt] == IPPROTO_TCP ? tcpChecksum : udpChecksum;
}

std::span<const unsigned char> segmentOf(std::span<const unsigned char> frame) {
    return frame.subspan(transport, ntohs(load<std::uint16_t>(frame, lengthAt)) - ip);
}

std::uint64_t halves(std::uint32_t value) {
    return (value & word) + (value >> 16U);
}

std::uint16_t updated(std::uint16_t checksum, std::uint64_t removed, std::uint64_t added) {
    const auto without = static_cast<std::uint16_t>(~fold(removed));
    return static_cast<std::uint16_t>(
        ~fold(static_cast<std::uint64_t>(static_cast<std::uint16_t>(~checksum)) + without + added));
}
} // namespace

void swapAddresses(std::span<unsigned char> frame) {
    if (frame.size() >= ethernet)
        std::swap_ranges(frame.begin(), frame.begin() + addressLength, frame.begin() + addressLength);
}

std::optional<Flow> flowOf(std::span<const unsigned char> frame) {
    if (frame.size() < transport || load<std::uint16_t>(frame, etherTypeAt) != htons(0x0800) ||
        frame[ethernet] != plainHeader || (load<std::uint16_t>(frame, fragmentAt) & htons(fragmentBits)) != 0)
        return {};
    const std::size_t length = ntohs(load<std::uint16_t>(frame, lengthAt));
    const auto protocol = frame[protocolAt];
    if ((protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) || length > frame.size() - ethernet ||
        length < ip + (protocol == IPPROTO_TCP ? tcpLength : udpLength))
        return {};
    return Flow{load<std::uint32_t>(frame, fromAt), load<std::uint32_t>(frame, toAt),
                load<std::uint16_t>(frame, transport), load<std::uint16_t>(frame, transport + 2), protocol};
}

void writeChecksum(std::span<unsigned char> frame, unsigned times) {
    const auto segment = segmentOf(frame);
    const auto at = checksumAt(frame);
    store<std::uint16_t>(frame, at, 0);
    for (unsigned i = 0; i < times; i++) {
        asm volatile("" ::: "memory"); // each time anew
        const auto sum = sumOf(segment) + halves(load<std::uint32_t>(frame, fromAt)) +
                         halves(load<std::uint32_t>(frame, toAt)) +
                         htons(static_cast<std::uint16_t>(frame[protocolAt])) +
                         htons(static_cast<std::uint16_t>(segment.size()));
        const auto checksum = static_cast<std::uint16_t>(~fold(sum));
        // A checksum of 0 would say that UDP has none. Of all times, the last one is written.
        if (i + 1 == times)
            store<std::uint16_t>(frame, at,
                                 checksum == 0 && at == udpChecksum ? std::uint16_t{0xffff} : checksum);
        else
            asm volatile("" ::"r"(checksum));
    }
}

void redirect(std::span<unsigned char> frame, const Backend& backend) {
    const auto at = checksumAt(frame);
    const auto toBefore = load<std::uint32_t>(frame, toAt);
    const auto portBefore = load<std::uint16_t>(frame, transport + 2);
    store(frame, toAt, backend.address);
    store(frame, transport + 2, backend.port);
    store(frame, ipChecksumAt,
          updated(load<std::uint16_t>(frame, ipChecksumAt), halves(toBefore), halves(backend.address)));
    const auto before = load<std::uint16_t>(frame, at);
    if (before == 0 && at == udpChecksum)
        return;
    const auto after = updated(before, halves(toBefore) + portBefore, halves(backend.address) + backend.port);
    store<std::uint16_t>(frame, at, after == 0 && at == udpChecksum ? std::uint16_t{0xffff} : after);
}

} // namespace tna::workload
