// SPDX-License-Identifier: Apache-2.0
#include "support/ipv6.hpp"

#include <arpa/inet.h>
#include <stdexcept>

namespace tna::test {

namespace {
constexpr std::size_t header = 14;
constexpr std::size_t headerLength = 40;

void setAddress(Frame& frame, std::size_t at, const std::string& text) {
    if (::inet_pton(AF_INET6, text.c_str(), &frame.bytes[at]) != 1)
        throw std::invalid_argument("not an IPv6 address: " + text);
}
} // namespace

Frame ipv6Frame(const Mac& destination, const Mac& source, const Ipv6& fields) {
    auto frame =
        FrameBuilder().ethernet(destination, source).etherType(0x86dd).raw(headerLength + fields.payload);
    const std::uint32_t first = 6U << 28U | fields.flow;
    for (unsigned i = 0; i < 4; i++)
        frame.bytes[header + i] = static_cast<std::uint8_t>(first >> (24U - 8U * i));
    frame.bytes[header + 4] = static_cast<std::uint8_t>(fields.payload >> 8U);
    frame.bytes[header + 5] = static_cast<std::uint8_t>(fields.payload);
    frame.bytes[header + 6] = fields.next;
    frame.bytes[header + 7] = fields.hops;
    setAddress(frame, header + 8, fields.from);
    setAddress(frame, header + 24, fields.to);
    return frame;
}

bool isIpv6(const Frame& frame) {
    return frame.bytes.size() >= header + headerLength && frame.bytes[12] == 0x86 && frame.bytes[13] == 0xdd;
}

} // namespace tna::test
