// SPDX-License-Identifier: Apache-2.0
#include "diff/unasked.hpp"

#include <algorithm>

namespace tna::diff {

namespace {
constexpr std::size_t ethernet = 14;
constexpr unsigned ipv4 = 0x0800, arp = 0x0806, ipv6 = 0x86dd;
constexpr unsigned icmp = 1, igmp = 2, icmpv6 = 58;

bool sentBy(const Frame& frame, const std::set<Mac>& own) {
    Mac source{};
    if (frame.size() < ethernet)
        return false;
    std::copy_n(frame.begin() + 6, source.size(), source.begin());
    return own.contains(source);
}

bool toGroup(const Frame& frame) {
    return (byteAt(frame, 0) & 1U) != 0;
}

bool spanningTree(const Frame& frame) {
    return frame.size() > 5 && frame[0] == 1 && frame[1] == 0x80 && frame[2] == 0xc2 && frame[5] == 0;
}

bool limited4(const Frame& frame) {
    const auto protocol = byteAt(frame, ethernet + 9);
    const auto at = ethernet + std::size_t{4} * (byteAt(frame, ethernet) & 15U);
    const auto type = byteAt(frame, at), code = byteAt(frame, at + 1);
    constexpr unsigned unreachable = 3, redirect = 5, exceeded = 11, timestamp = 14;
    return (protocol == igmp && toGroup(frame)) ||
           (protocol == icmp && ((type == unreachable && (code == 0 || code == 1 || code == 13)) ||
                                 type == redirect || (type == exceeded && code == 1) || type == timestamp));
}

bool limited6(const Frame& frame) {
    // Reports and queries are behind a hop-by-hop header.
    if (byteAt(frame, ethernet + 6) == 0 && byteAt(frame, ethernet + 40) == icmpv6)
        return toGroup(frame);
    if (byteAt(frame, ethernet + 6) != icmpv6)
        return false;
    const auto type = byteAt(frame, ethernet + 40), code = byteAt(frame, ethernet + 41);
    constexpr unsigned unreachable = 1, exceeded = 3, routerSolicitation = 133, neighbourSolicitation = 135,
                       redirect = 137;
    return (type >= routerSolicitation && type <= neighbourSolicitation) || type == redirect ||
           (type == unreachable && code == 3) || (type == exceeded && code == 1);
}
} // namespace

bool comesUnasked(const Frame& frame, const std::set<Mac>& own) {
    if (!sentBy(frame, own))
        return false;
    constexpr unsigned question = 1;
    const auto type = wordAt(frame, ethernet - 2);
    return spanningTree(frame) || (type == arp && wordAt(frame, ethernet + 6) == question) ||
           (type == ipv4 && limited4(frame)) || (type == ipv6 && limited6(frame));
}

void forgetChance(Frame& frame, const std::set<Mac>& own) {
    constexpr std::size_t header = 20;
    if (frame.size() < ethernet + header || wordAt(frame, ethernet - 2) != ipv4 || !sentBy(frame, own))
        return;
    const auto forget = [&](std::size_t from, std::size_t size) {
        for (std::size_t i = ethernet + from; i < std::min(ethernet + from + size, frame.size()); i++)
            frame[i] = 0;
    };
    if (frame[ethernet + 9] == icmp)
        forget(4, 2);
    const std::size_t options =
        std::max<std::size_t>(std::size_t{4} * (frame[ethernet] & 15U), header) - header;
    constexpr std::uint8_t timestamp = 0x44;
    const auto end =
        frame.begin() + static_cast<std::ptrdiff_t>(std::min(ethernet + header + options, frame.size()));
    const bool stamped = std::find(frame.begin() + ethernet + header, end, timestamp) != end;
    if (stamped)
        forget(header, options);
    if (stamped || frame[ethernet + 9] == icmp)
        forget(10, 2);
}

} // namespace tna::diff
