// SPDX-License-Identifier: Apache-2.0
#include "support/ipv4.hpp"

#include "support/ipv6.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <stdexcept>

namespace tna::test {

namespace {
constexpr std::size_t header = 14;

void set16(Frame& frame, std::size_t at, std::size_t value) {
    frame.bytes[at] = static_cast<std::uint8_t>(value >> 8U);
    frame.bytes[at + 1] = static_cast<std::uint8_t>(value);
}

void setAddress(Frame& frame, std::size_t at, const std::string& text) {
    if (::inet_pton(AF_INET, text.c_str(), &frame.bytes[at]) != 1)
        throw std::invalid_argument("not an IPv4 address: " + text);
}
} // namespace

void finishIpv4(Frame& frame) {
    const std::size_t length = (frame.bytes[header] & 15U) * 4U;
    set16(frame, header + 10, 0);
    set16(frame, header + 10,
          internetChecksum(&frame.bytes[header], std::min(length, frame.bytes.size() - header)));
}

Frame ipv4Frame(const Mac& destination, const Mac& source, const Ipv4& fields) {
    const std::size_t length = 20 + fields.options;
    auto frame = FrameBuilder().ethernet(destination, source).etherType(0x0800).raw(length + fields.payload);
    std::fill_n(frame.bytes.begin() + header, length, std::uint8_t{1}); // the option "no operation"
    frame.bytes[header] = static_cast<std::uint8_t>(0x40U | length / 4);
    frame.bytes[header + 1] = fields.tos;
    set16(frame, header + 2, length + fields.payload);
    set16(frame, header + 4, fields.id);
    set16(frame, header + 6, fields.fragment);
    frame.bytes[header + 8] = fields.ttl;
    frame.bytes[header + 9] = fields.protocol;
    setAddress(frame, header + 12, fields.from);
    setAddress(frame, header + 16, fields.to);
    finishIpv4(frame);
    return frame;
}

Frame oneHopFurther(Frame frame, const Mac& destination, const Mac& source) {
    const bool six = isIpv6(frame);
    const std::size_t at = header + (six ? 4 : 2);
    const std::size_t total = (frame.bytes[at] << 8U | frame.bytes[at + 1]) + (six ? 40 : 0);
    frame.bytes.resize(std::min(frame.bytes.size(), header + total));
    std::ranges::copy(destination, frame.bytes.begin());
    std::ranges::copy(source, frame.bytes.begin() + 6);
    frame.bytes[header + (six ? 7 : 8)]--;
    if (!six)
        finishIpv4(frame);
    return frame;
}

} // namespace tna::test
