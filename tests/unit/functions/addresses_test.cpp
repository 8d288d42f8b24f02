// SPDX-License-Identifier: Apache-2.0
#include "functions/addresses.hpp"

#include <gtest/gtest.h>
#include <random>

namespace tna::functions {
namespace {

TEST(Addresses, PrefixesAreReadWithOrWithoutALength) {
    const auto four = parsePrefix("192.0.2.0/24");
    ASSERT_TRUE(four);
    EXPECT_EQ(four->version, 4U);
    EXPECT_EQ(four->length, 24U);
    EXPECT_EQ(four->bytes[2], 2);
    EXPECT_EQ(parsePrefix("192.0.2.1")->length, 32U);
    EXPECT_EQ(parsePrefix("2001:db8::/32")->version, 6U);
    EXPECT_EQ(parsePrefix("2001:db8::1")->length, 128U);
    EXPECT_EQ(parsePrefix("0.0.0.0/0")->length, 0U);
}

TEST(Addresses, WhatIsNoPrefixIsRefused) {
    for (const char* text :
         {"", "/24", "192.0.2.0/33", "192.0.2.1/24", "192.0.2.0/", "192.0.2.0/-1", "192.0.2",
          "2001:db8::/129", "2001:db8::1/64", "192.0.2.0/24x", "host", "192.0.2.0/ 24"})
        EXPECT_FALSE(parsePrefix(text)) << text;
}

TEST(Addresses, PortsAreANumberOrARange) {
    EXPECT_EQ(parsePorts("53"), (PortRange{53, 53}));
    EXPECT_EQ(parsePorts("0-65535"), (PortRange{0, 65535}));
    for (const char* text : {"", "-", "1-", "-1", "2-1", "65536", "1-65536", "1-2-3", " 1", "x"})
        EXPECT_FALSE(parsePorts(text)) << text;
}

TEST(Addresses, PartsOfARangeAreTheRangeAndNothingElse) {
    std::mt19937 random{1};
    for (int round = 0; round < 200; round++) {
        const unsigned one = random() % 65536, other = random() % 65536;
        const PortRange range{std::min(one, other), std::max(one, other)};
        const auto parts = masksOf(range);
        EXPECT_LE(parts.size(), 30U);
        unsigned covered = 0;
        for (const auto& [value, mask] : parts) {
            EXPECT_EQ(value & ~mask, 0U);
            EXPECT_GE(value, range.first);
            EXPECT_LE(value | (~mask & 0xffffU), range.last);
            covered += (~mask & 0xffffU) + 1;
        }
        EXPECT_EQ(covered, range.last - range.first + 1) << "each port is in one of them";
    }
    EXPECT_EQ(masksOf({0, 65535}), (std::vector<MaskedNumber>{{0, 0}}));
}

} // namespace
} // namespace tna::functions
