// SPDX-License-Identifier: Apache-2.0
// The rule that the fast path finds for a frame is the one that looking at all rules, one by one, finds.
#include "steer_fixture.hpp"
#include "support/command.hpp"

#include <algorithm>
#include <net/if.h>
#include <random>

namespace tna::test {
namespace {

using functions::Prefix;
using functions::Rule;

bool isIn(const Prefix& prefix, const std::array<std::uint8_t, 16>& address) {
    for (unsigned bit = 0; bit < prefix.length; bit++)
        if (((prefix.bytes.at(bit / 8) ^ address.at(bit / 8)) >> (7 - bit % 8) & 1U) != 0)
            return false;
    return true;
}

bool matches(const Rule& rule, const Packet& packet) {
    const bool ip = packet.version != 0;
    const bool ported =
        ip && !(packet.version == 4 && packet.fragment) && (packet.protocol == 6 || packet.protocol == 17);
    // A tag of VLAN 0 is one.
    if (rule.vlan && (*rule.vlan == 0 ? packet.vlan.has_value() : packet.vlan != rule.vlan))
        return false;
    if (rule.etherType && *rule.etherType != etherTypeOf(packet))
        return false;
    if (rule.protocol && (!ip || *rule.protocol != packet.protocol))
        return false;
    if (rule.from && (rule.from->version != packet.version || !isIn(*rule.from, packet.from)))
        return false;
    if (rule.to && (rule.to->version != packet.version || !isIn(*rule.to, packet.to)))
        return false;
    if (rule.fromPort &&
        (!ported || packet.fromPort < rule.fromPort->first || packet.fromPort > rule.fromPort->last))
        return false;
    if (rule.toPort && (!ported || packet.toPort < rule.toPort->first || packet.toPort > rule.toPort->last))
        return false;
    return rule.flagsMask == 0 || (ported && (packet.flags & rule.flagsMask) == rule.flags);
}

/// Few different values, so that frames match rules.
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    unsigned below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }
    bool often() { return below(3) != 0; }

    std::array<std::uint8_t, 16> address(unsigned version) {
        std::array<std::uint8_t, 16> bytes{};
        const std::size_t length = version == 4 ? 4 : 16;
        for (std::size_t i = 0; i < length; i++)
            bytes.at(i) = static_cast<std::uint8_t>(i % 3 == 2 ? below(256) : below(2));
        return bytes;
    }
    Prefix prefix(unsigned version) {
        static constexpr std::array lengths{0U, 8U, 15U, 32U};
        Prefix prefix{version, address(version), lengths.at(below(4)) * (version == 6 ? 4 : 1)};
        for (unsigned bit = prefix.length; bit < 128; bit++)
            prefix.bytes.at(bit / 8) &= static_cast<std::uint8_t>(~(0x80U >> bit % 8));
        return prefix;
    }
    Packet packet() {
        static constexpr std::array versions{4U, 4U, 6U, 0U};
        static constexpr std::array protocols{6U, 17U, 1U, 50U};
        Packet packet{.version = versions.at(below(4))};
        if (!often())
            packet.vlan = below(2) == 0 ? 0 : 5;
        packet.from = address(packet.version);
        packet.to = address(packet.version);
        packet.protocol = protocols.at(below(4));
        packet.fromPort = below(2) * 4096 + below(8);
        packet.toPort = below(8);
        packet.flags = below(64);
        packet.fragment = below(8) == 0;
        packet.options = below(4) == 0;
        return packet;
    }
    Rule rule(unsigned priority) {
        static constexpr std::array versions{4U, 6U};
        Rule rule{.priority = priority};
        if (below(4) == 0)
            rule.vlan = below(2) * 5;
        if (const auto version = versions.at(below(2)); often()) {
            if (below(2) == 0)
                rule.from = prefix(version);
            if (below(2) == 0)
                rule.to = prefix(version);
        }
        if (often()) {
            rule.protocol = below(2) == 0 ? 6 : 17;
            if (const auto first = below(8); below(2) == 0)
                rule.toPort = functions::PortRange{first, first};
            if (below(6) == 0)
                rule.fromPort = functions::PortRange{4096, 8191};
            if (rule.protocol == 6U && below(3) == 0) {
                rule.flagsMask = 18;
                rule.flags = 2;
            }
        }
        return rule;
    }

private:
    std::mt19937 engine_;
};

TEST_F(SteerTest, RuleThatIsFoundIsTheFirstThatMatches) {
    unsigned found = 0, none = 0, sets = 0;
    for (unsigned seed = 0; sets < 20; seed++) {
        Random random{seed};
        std::vector<Rule> rules;
        const auto count = 1 + random.below(12);
        for (unsigned i = 0; i < count; i++)
            rules.push_back(random.rule(i * 10));
        sets++;
        ASSERT_NO_FATAL_FAILURE(use(rules)) << "seed " << seed;
        for (unsigned i = 0; i < 300; i++) {
            const auto packet = random.packet();
            const auto it =
                std::ranges::find_if(rules, [&](const auto& rule) { return matches(rule, packet); });
            const auto expected = it == rules.end()
                                      ? std::nullopt
                                      : std::optional(static_cast<std::size_t>(it - rules.begin()));
            ASSERT_EQ(foundFor(packet), expected)
                << "seed " << seed << ", " << ::testing::PrintToString(frameOf(packet));
            (expected ? found : none)++;
        }
    }
    EXPECT_GT(found, 500U);
    EXPECT_GT(none, 500U);
}

/// Nearly as many rules as there may be, of many masks that look for the same bits: many share a hash.
TEST_F(SteerTest, NetworksOfTheSameAddressAreToldApart) {
    constexpr unsigned networks = 620, shortest = 17;
    const auto bytesOf = [](std::uint32_t address) {
        std::array<std::uint8_t, 16> bytes{};
        for (unsigned i = 0; i < 4; i++)
            bytes.at(i) = static_cast<std::uint8_t>(address >> (24 - 8 * i));
        return bytes;
    };
    std::vector<Rule> rules;
    std::vector<Packet> packets; // each in the network of its rule, and in none of the longer ones
    for (std::uint32_t number = 0; number < networks; number++)
        for (unsigned length = shortest; length <= 32; length++) {
            const std::uint32_t address = (10U << 24U) + (number << 15U);
            rules.push_back({.priority = 32 - length, .to = Prefix{4, bytesOf(address), length}});
            packets.push_back({.to = bytesOf(address | (length == 32 ? 0 : 1U << (31 - length)))});
        }
    ASSERT_NO_FATAL_FAILURE(use(rules));
    for (unsigned i = 0; i < rules.size(); i++) {
        EXPECT_EQ(runProgram(alone_.program.get(), frameOf(packets[i]), port_).first, XDP_PASS);
        ASSERT_EQ(alone_.steering->counters(i).otherwise, 1U) << "rule " << i;
    }
}

/// The second mask has a rule that comes before what the first one has found, but not for this frame.
TEST_F(SteerTest, RuleThatIsFoundLaterComesFirstOnlyIfItsPriorityIsLower) {
    const auto host = [](std::uint8_t last) { return Prefix{4, {10, 0, 0, last}, 32}; };
    ASSERT_NO_FATAL_FAILURE(use({{.priority = 0, .protocol = 17, .toPort = functions::PortRange{1, 1}},
                                 {.priority = 10, .from = host(1)},
                                 {.priority = 15, .protocol = 17, .toPort = functions::PortRange{2, 2}},
                                 {.priority = 30, .from = host(2)}}));
    EXPECT_EQ(foundFor({.from = {10, 0, 0, 2}, .toPort = 2}), 2U);
    EXPECT_EQ(foundFor({.from = {10, 0, 0, 1}, .toPort = 2}), 1U);
    EXPECT_EQ(foundFor({.from = {10, 0, 0, 1}, .toPort = 1}), 0U);
    EXPECT_EQ(foundFor({.from = {10, 0, 0, 2}, .toPort = 3}), 3U);
}

TEST_F(SteerTest, SecondHalvesOfAddressesAreLookedAt) {
    const auto host = [](std::uint8_t last) {
        std::array<std::uint8_t, 16> bytes{0x20, 1, 0xd, 0xb8};
        bytes.back() = last;
        return bytes;
    };
    const auto to = [&](std::uint8_t last) { return Prefix{6, host(last), 128}; };
    for (const std::vector<Rule>& rules :
         {std::vector<Rule>{{.to = to(1)}}, {{.to = to(1)}, {.to = to(2)}}}) {
        ASSERT_NO_FATAL_FAILURE(use(rules));
        EXPECT_EQ(foundFor({.version = 6, .to = host(1)}), 0U);
        EXPECT_EQ(foundFor({.version = 6, .to = host(3)}), std::nullopt);
        EXPECT_EQ(foundFor({.version = 6, .from = host(1), .to = host(0)}), std::nullopt);
    }
}

TEST_F(SteerTest, OneOfTenThousandRulesIsFound) {
    const auto hostOf = [](unsigned host) {
        return std::array<std::uint8_t, 16>{10, 0, static_cast<std::uint8_t>(host >> 8U),
                                            static_cast<std::uint8_t>(host)};
    };
    std::vector<Rule> rules;
    for (unsigned host = 0; host < 10000; host++)
        rules.push_back({.to = Prefix{4, hostOf(host), 32}});
    ASSERT_NO_FATAL_FAILURE(use(rules));
    for (unsigned host = 0; host < 10000; host += 97)
        EXPECT_EQ(foundFor({.to = hostOf(host)}), host);
    EXPECT_EQ(foundFor({.to = hostOf(10000)}), std::nullopt);
}

TEST_F(SteerTest, RulesAreReplacedAsAWhole) {
    const Packet packet{.toPort = 53};
    const Rule everything{}, other{.protocol = 1};
    for (int round = 0; round < 6; round++) {
        ASSERT_NO_FATAL_FAILURE(use({other, everything}));
        EXPECT_EQ(foundFor(packet), 1U);
        ASSERT_NO_FATAL_FAILURE(use({other}));
        EXPECT_EQ(foundFor(packet), std::nullopt);
    }
}

TEST_F(SteerTest, FrameOfAnotherPortIsNotLookedAt) {
    ASSERT_NO_FATAL_FAILURE(use({Rule{}}));
    must("ip link set q0 up");
    EXPECT_EQ(runProgram(alone_.program.get(), frameOf({}), ::if_nametoindex("q0")).first, XDP_PASS);
    EXPECT_EQ(alone_.steering->counters(0).otherwise, 0U);
}

TEST_F(SteerTest, FramesAreCutOffAnywhere) {
    ASSERT_NO_FATAL_FAILURE(use({{.protocol = 6, .toPort = functions::PortRange{53, 53}}}));
    for (const unsigned version : {4U, 6U}) {
        const auto whole = frameOf({.version = version, .protocol = 6, .toPort = 53});
        const std::size_t needed = 14 + (version == 4 ? 20 : 40) + 14;
        for (std::size_t length = 14; length <= whole.bytes.size(); length++) {
            const auto before = alone_.steering->counters(0).otherwise;
            (void)runProgram(
                alone_.program.get(),
                {{whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(length)}}, port_);
            EXPECT_EQ(alone_.steering->counters(0).otherwise - before, length >= needed ? 1U : 0U) << length;
        }
    }
}

} // namespace
} // namespace tna::test
