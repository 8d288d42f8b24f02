// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

namespace tna::test {

/// The fields of an IPv6 header that tests change; lengths are right.
struct Ipv6 {
    std::string from = "fd00:0:0:0::2";
    std::string to = "fd00:0:0:1::2";
    std::uint8_t hops = 64;
    std::uint32_t flow = 0; ///< traffic class and flow label, the lower 28 bits of the first word
    std::uint8_t next = 59; ///< no next header; the payload's first byte is the type of another one
    std::size_t payload = 26;
};

[[nodiscard]] Frame ipv6Frame(const Mac& destination, const Mac& source, const Ipv6& fields = {});
[[nodiscard]] bool isIpv6(const Frame& frame);

} // namespace tna::test
