// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wires/frame.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tna::test {

/// A whole Ethernet frame; printed as hex by failing tests.
struct Frame {
    std::vector<std::uint8_t> bytes;
    bool operator==(const Frame&) const = default;
};
void PrintTo(const Frame& frame, std::ostream* out);

using wires::internetChecksum;
using wires::Mac;
using wires::text;
/// 02:00:00:00:hi:lo
[[nodiscard]] Mac station(unsigned number);

/// Builds frames header by header. Lengths and checksums are right unless set otherwise.
class FrameBuilder {
public:
    FrameBuilder& ethernet(const Mac& destination, const Mac& source);
    FrameBuilder& vlan(std::uint16_t protocol, std::uint16_t tci);
    FrameBuilder& etherType(std::uint16_t type);
    /// UDP in IPv4 with `payload` bytes, ends the frame.
    [[nodiscard]] Frame udp(std::size_t payload = 18) const;
    /// Any bytes behind the last EtherType given.
    [[nodiscard]] Frame raw(std::size_t bytes) const;

private:
    std::vector<std::uint8_t> bytes_;
};

} // namespace tna::test
