// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packet.hpp"

namespace tna::balancer {

enum class Side { from, to };

/// Puts another endpoint into a segment. Its checksums are changed by what is different (RFC 1624), so that
/// they are as right or wrong as before: whoever checks them sees what its sender has sent.
void setEndpoint(std::span<std::uint8_t> frame, const Packet& packet, Side side, const Endpoint& endpoint);

/// The same within the packet that an error quotes, and in the error's own checksum.
void setQuoted(std::span<std::uint8_t> frame, const Packet& packet, Side side, const Endpoint& endpoint);
/// An address of the error itself.
void setAddress(std::span<std::uint8_t> frame, const Packet& packet, Side side, const Address& address);

} // namespace tna::balancer
