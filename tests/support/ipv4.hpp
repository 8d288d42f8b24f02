// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

namespace tna::test {

/// The fields of an IPv4 header that tests change; lengths and checksums are right.
struct Ipv4 {
    std::string from = "10.0.0.2";
    std::string to = "10.0.1.2";
    std::uint8_t ttl = 64;
    std::uint8_t tos = 0;
    std::uint16_t id = 1;
    std::uint16_t fragment = 0; ///< flags and offset, as in the header
    std::uint8_t protocol = 17;
    std::size_t options = 0; ///< bytes of no-operation options, a multiple of 4
    std::size_t payload = 26;
};

[[nodiscard]] Frame ipv4Frame(const Mac& destination, const Mac& source, const Ipv4& fields = {});

/// Sets the header's checksum right again.
void finishIpv4(Frame& frame);

/// What a router makes of a packet, of IPv6 as well: other MAC addresses, one hop less to live, and nothing
/// behind the packet.
[[nodiscard]] Frame oneHopFurther(Frame frame, const Mac& destination, const Mac& source);

} // namespace tna::test
