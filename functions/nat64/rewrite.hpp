// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packet.hpp"

namespace tna::nat64 {

// Packets of one version of IP made into packets of the other one, in place (RFC 7915). Who looks up what
// addresses and ports become is somebody else. Nothing is changed where the result is a reason. Hop limits
// stay: Linux forwards the packet, and makes them smaller.

struct Ends4 {
    Address4 source = 0, destination = 0;
};
struct Ends6 {
    Address6 source{}, destination{};
};
/// Of TCP, UDP and its like; both are the identifier in ICMP.
struct Ports {
    std::uint16_t source = 0, destination = 0;
};
using NewPorts = std::optional<Ports>; ///< none: they stay

struct Limits {
    std::size_t mtu6 = 1280;       ///< that all of IPv6 is known to have
    bool dropZeroChecksum = false; ///< UDP that has none; else it gets one
};

constexpr std::size_t lowestMtu6 = 1280;

/// `id`: of the packet, where fragments are allowed that have no number yet.
[[nodiscard]] Reason to4(Buffer& packet, const Parsed& parsed, const Ends4& ends, const NewPorts& ports,
                         std::uint16_t id);
/// The packet is longer than limits.mtu6 if it is to be split.
[[nodiscard]] Reason to6(Buffer& packet, const Parsed& parsed, const Ends6& ends, const NewPorts& ports,
                         const Limits& limits);

/// Whether it is an ICMP error of its version; so that one in `quoted` is the packet that it is about.
[[nodiscard]] Reason quotedOf(const Parsed& error, bool six, Parsed& quoted);
[[nodiscard]] Reason errorTo4(Buffer& packet, const Parsed& error, const Parsed& quoted, const Ends4& ends,
                              const Ends4& quotedEnds, const NewPorts& quotedPorts, std::uint16_t id);
[[nodiscard]] Reason errorTo6(Buffer& packet, const Parsed& error, const Parsed& quoted, const Ends6& ends,
                              const Ends6& quotedEnds, const NewPorts& quotedPorts);

/// An ICMP error about a packet, in its place; its sender gets it from whom it has sent to.
struct Complaint {
    std::uint8_t type = 0, code = 0;
    std::uint32_t rest = 0; ///< of its header, as it is there
};
[[nodiscard]] bool complain4(Buffer& packet, const Parsed& parsed, const Complaint& complaint);
[[nodiscard]] bool complain6(Buffer& packet, const Parsed& parsed, const Complaint& complaint);

} // namespace tna::nat64
