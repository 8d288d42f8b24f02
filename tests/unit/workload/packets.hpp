// SPDX-License-Identifier: Apache-2.0
// Packets of a flow, and what their checksums have to be, reckoned byte by byte.
#pragma once

#include "functions/workload/flows.hpp"

#include <cstring>
#include <netinet/in.h>
#include <vector>

namespace tna::workload::test {

using Bytes = std::vector<unsigned char>;
constexpr std::size_t ipAt = 14, segmentAt = 34;

inline std::uint32_t wordsOf(const Bytes& frame, std::size_t from, std::size_t to) {
    std::uint32_t sum = 0;
    for (std::size_t at = from; at < to; at++)
        sum += (at - from) % 2 == 0 ? frame.at(at) * 256U : frame.at(at);
    return sum;
}

inline std::uint16_t folded(std::uint32_t sum) {
    while (sum > 0xffff)
        sum = (sum & 0xffffU) + (sum >> 16U);
    return static_cast<std::uint16_t>(sum);
}

inline bool headerIsRight(const Bytes& frame) {
    return folded(wordsOf(frame, ipAt, segmentAt)) == 0xffff;
}

inline bool segmentIsRight(const Bytes& frame) {
    const std::size_t length = frame.at(16) * 256U + frame.at(17) - 20;
    const auto pseudo = wordsOf(frame, 26, 34) + frame.at(23) + static_cast<std::uint32_t>(length);
    return folded(pseudo + wordsOf(frame, segmentAt, segmentAt + length)) == 0xffff;
}

inline void setHeaderChecksum(Bytes& frame) {
    frame.at(24) = frame.at(25) = 0;
    const auto sum = static_cast<std::uint16_t>(~folded(wordsOf(frame, ipAt, segmentAt)));
    frame.at(24) = static_cast<unsigned char>(sum >> 8U);
    frame.at(25) = static_cast<unsigned char>(sum);
}

/// From 02:00:00:00:00:02 to 02:00:00:00:00:01; its segment has no checksum.
inline Bytes packetOf(const Flow& flow, std::size_t payload = 22) {
    const std::size_t header = flow.protocol == IPPROTO_TCP ? 20 : 8;
    Bytes frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0};
    frame.resize(segmentAt + header + payload, 0x5a);
    const auto length = 20 + header + payload;
    const unsigned char rest[]{static_cast<unsigned char>(length >> 8U),
                               static_cast<unsigned char>(length),
                               0,
                               1,
                               0x40,
                               0,
                               64,
                               static_cast<unsigned char>(flow.protocol),
                               0,
                               0};
    std::memcpy(&frame.at(16), rest, sizeof(rest));
    std::memcpy(&frame.at(26), &flow.from, 4);
    std::memcpy(&frame.at(30), &flow.to, 4);
    std::memcpy(&frame.at(34), &flow.fromPort, 2);
    std::memcpy(&frame.at(36), &flow.toPort, 2);
    const std::size_t checksum = flow.protocol == IPPROTO_TCP ? 50 : 40;
    if (flow.protocol == IPPROTO_UDP) {
        frame.at(38) = static_cast<unsigned char>((header + payload) >> 8U);
        frame.at(39) = static_cast<unsigned char>(header + payload);
    }
    frame.at(checksum) = frame.at(checksum + 1) = 0;
    setHeaderChecksum(frame);
    return frame;
}

} // namespace tna::workload::test
