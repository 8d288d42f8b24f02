// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/frame.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>

namespace tna::diff {

/// Addresses of IPv4 that begin alike.
struct Net4 {
    std::uint32_t address;
    std::uint32_t mask = 0xffffffff;
    auto operator<=>(const Net4&) const = default;
};

/// Addresses that a host's devices have or had.
struct Own {
    std::set<Mac> macs;
    std::set<std::array<std::uint8_t, 16>> ipv6;
    std::set<Net4> ipv4;
};

/// Whether a host with these addresses sends such a frame when it likes, or now and then only, so that
/// two hosts do not do it alike: questions for neighbours, reports and queries, spanning tree, words of a
/// mesh, and complaints to senders that are limited by time.
[[nodiscard]] bool comesUnasked(const Frame& frame, const Own& own);
/// Of a redirect that a host with these addresses sends: to whom. How many there are is decided by time, but
/// not whether there is any.
[[nodiscard]] std::optional<std::string> redirectedBy(const Frame& frame, const Own& own);
/// Whether a packet of IPv4 that has come to its destination complains about such a frame, which the host's
/// own tunnel carried; or about any, for there is no neighbour, which it says when the time to find one is
/// up.
[[nodiscard]] bool quotesUnasked(const Frame& packet, const Own& own);

/// Sets to 0 what a host numbers for itself, identifications of its ICMP and of its fragments of IPv6, and
/// the time of day that a router writes into packets that ask for it, also where it quotes one. Checksums of
/// that are set right again if they were right.
void forgetChance(Frame& frame, const Own& own);
/// The same of a packet of IPv4, without what is in front of it, that has come to its destination.
void forgetChanceInPacket(Frame& packet, const Own& own);

} // namespace tna::diff
