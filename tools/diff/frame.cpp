// SPDX-License-Identifier: Apache-2.0
#include "diff/frame.hpp"

#include <algorithm>

namespace tna::diff {

namespace {
constexpr unsigned ipv4 = 0x0800, ipv6 = 0x86dd, dot1q = 0x8100, dot1ad = 0x88a8, tcp = 6, udp = 17;
constexpr unsigned fragmented = 0x3fff;

void append(std::string& key, const Frame& frame, std::size_t from, std::size_t size) {
    if (from < frame.size())
        key.append(reinterpret_cast<const char*>(&frame[from]), std::min(size, frame.size() - from));
}
} // namespace

std::string flowOf(const Frame& frame) {
    std::size_t at = ethernet;
    for (unsigned type = wordAt(frame, at - 2); type == dot1q || type == dot1ad; type = wordAt(frame, at - 2))
        at += 4;
    std::string key;
    append(key, frame, 0, at);
    const unsigned type = wordAt(frame, at - 2);
    unsigned protocol = 0;
    std::size_t ports = 0;
    if (type == ipv4) {
        append(key, frame, at + 9, 1);
        append(key, frame, at + 12, 8);
        protocol = (wordAt(frame, at + 6) & fragmented) == 0 ? byteAt(frame, at + 9) : 0;
        ports = at + std::size_t{4} * (byteAt(frame, at) & 15U);
    } else if (type == ipv6) {
        append(key, frame, at + 6, 1);
        append(key, frame, at + 8, 32);
        protocol = byteAt(frame, at + 6);
        ports = at + 40;
    }
    if (protocol == tcp || protocol == udp)
        append(key, frame, ports, 4);
    return key;
}

} // namespace tna::diff
