// SPDX-License-Identifier: Apache-2.0
// The tests' own tools: a frame builder that is wrong would prove nothing.
#include "support/frame.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

TEST(FrameBuilder, UdpFrameIsAsWrittenDownByHand) {
    const auto frame = FrameBuilder().ethernet(station(2), station(1)).udp(2);
    const std::vector<std::uint8_t> expected{
        2,    0,    0,    0,    0, 2,  2,    0,    0,  0,  0,    1,    8,  0,                    // Ethernet
        0x45, 0,    0,    30,   0, 1,  0,    0,    64, 17, 0x66, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
        0x0f, 0xa0, 0x0f, 0xa1, 0, 10, 0xcc, 0x95, 0,  1};                                       // UDP
    EXPECT_EQ(frame.bytes, expected);
}

TEST(FrameBuilder, ChecksumsVerify) {
    const auto frame = FrameBuilder().ethernet(station(2), station(1)).udp(33);
    EXPECT_EQ(internetChecksum(&frame.bytes[14], 20), 0);
    std::vector<std::uint8_t> pseudo(frame.bytes.begin() + 26, frame.bytes.begin() + 34);
    pseudo.insert(pseudo.end(), {0, 17, 0, 41});
    pseudo.insert(pseudo.end(), frame.bytes.begin() + 34, frame.bytes.end());
    EXPECT_EQ(internetChecksum(pseudo.data(), pseudo.size()), 0);
}

TEST(FrameBuilder, TagsLieBetweenAddressesAndEtherType) {
    const auto frame = FrameBuilder()
                           .ethernet(station(2), station(1))
                           .vlan(0x88a8, 5)
                           .vlan(0x8100, 0xe006)
                           .etherType(0x0806)
                           .raw(1);
    const std::vector<std::uint8_t> tail(frame.bytes.begin() + 12, frame.bytes.end());
    EXPECT_EQ(tail, (std::vector<std::uint8_t>{0x88, 0xa8, 0, 5, 0x81, 0, 0xe0, 6, 8, 6, 0}));
}

} // namespace
} // namespace tna::test
