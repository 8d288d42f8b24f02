// SPDX-License-Identifier: Apache-2.0
#include "address.hpp"
#include "maglev.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace tna::balancer {
namespace {

constexpr std::size_t size = 65537;

std::vector<Choice> choicesOf(std::uint16_t count) {
    std::vector<Choice> choices;
    for (std::uint16_t i = 0; i < count; i++) {
        const std::uint8_t bytes[4]{10, 0, static_cast<std::uint8_t>(i >> 8U), static_cast<std::uint8_t>(i)};
        choices.push_back({i, hashOf({Address::four(bytes), 80}, 0), 1});
    }
    return choices;
}

std::map<std::uint16_t, double> sharesOf(const Maglev& table) {
    std::map<std::uint16_t, double> shares;
    for (const auto number : table.places())
        shares[number] += 1.0 / static_cast<double>(table.places().size());
    return shares;
}

TEST(MaglevTable, SharesAreEqual) {
    const auto shares = sharesOf(Maglev(choicesOf(100), size));
    ASSERT_EQ(shares.size(), 100U);
    for (const auto& [number, share] : shares)
        EXPECT_NEAR(share, 0.01, 0.0001) << number;
}

TEST(MaglevTable, SharesAreAsWeights) {
    auto choices = choicesOf(4);
    choices[0].weight = 5;
    choices[1].weight = 3;
    choices[2].weight = 2;
    choices[3].weight = 0;
    auto shares = sharesOf(Maglev(choices, size));
    EXPECT_NEAR(shares[0], 0.5, 0.001);
    EXPECT_NEAR(shares[1], 0.3, 0.001);
    EXPECT_NEAR(shares[2], 0.2, 0.001);
    EXPECT_EQ(shares.count(3), 0U) << "weight 0 is nothing";
}

/// The paper's measure: what has not been the lost one's, and changes all the same.
TEST(MaglevTable, LittleElseChangesWhenOneGoes) {
    auto choices = choicesOf(50);
    const Maglev before(choices, size);
    choices.erase(choices.begin() + 20);
    const Maglev after(choices, size);
    std::size_t disrupted = 0;
    for (std::size_t i = 0; i < size; i++) {
        EXPECT_NE(after.places()[i], 20);
        disrupted += before.places()[i] != 20 && before.places()[i] != after.places()[i] ? 1 : 0;
    }
    EXPECT_LT(static_cast<double>(disrupted) / static_cast<double>(size), 0.02);
}

TEST(MaglevTable, OrderOfTheConfigurationDoesNotMatter) {
    auto choices = choicesOf(20);
    const Maglev before(choices, size);
    std::ranges::reverse(choices);
    EXPECT_EQ(Maglev(choices, size).places(), before.places());
}

TEST(MaglevTable, WithoutChoicesIsEmpty) {
    EXPECT_TRUE(Maglev().empty());
    auto choices = choicesOf(1);
    EXPECT_FALSE(Maglev(choices, 2).empty());
    choices[0].weight = 0;
    EXPECT_TRUE(Maglev(choices, size).empty());
}

/// Ports and addresses as they come, one beside the other, are spread all the same.
TEST(MaglevTable, ClientsOfOneAddressAreSpread) {
    const Maglev table(choicesOf(10), size);
    std::map<std::uint16_t, unsigned> met;
    const std::uint8_t bytes[4]{198, 51, 100, 2};
    for (std::uint16_t port = 20000; port < 30000; port++)
        met[table.at(hashOf({Address::four(bytes), port}, 7))]++;
    ASSERT_EQ(met.size(), 10U);
    for (const auto& [number, count] : met)
        EXPECT_NEAR(count, 1000, 150) << number; // five standard deviations
}

TEST(MaglevTable, PrimesAreKnown) {
    for (const auto prime : {2, 3, 251, 65537, 1000003})
        EXPECT_TRUE(isPrime(static_cast<std::uint64_t>(prime))) << prime;
    for (const auto other : {0, 1, 4, 65535, 65536, 1000001})
        EXPECT_FALSE(isPrime(static_cast<std::uint64_t>(other))) << other;
}

} // namespace
} // namespace tna::balancer
