// SPDX-License-Identifier: Apache-2.0
// Which filters of packet sockets want nothing of what is forwarded.
#include "assemble/packet_filter.hpp"

#include "support/listening.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <tna/fastpath.h>

namespace tna::assemble {
namespace {

using model::FilterInstruction;
using model::PacketFilter;

constexpr FilterInstruction etherType{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12};
constexpr FilterInstruction protocol{BPF_LD | BPF_B | BPF_ABS, 0, 0, 23};
constexpr FilterInstruction fragment{BPF_LD | BPF_H | BPF_ABS, 0, 0, 20};
constexpr FilterInstruction headerLength{BPF_LDX | BPF_B | BPF_MSH, 0, 0, 14};
constexpr FilterInstruction destinationPort{BPF_LD | BPF_H | BPF_IND, 0, 0, 16};
constexpr FilterInstruction all{BPF_RET | BPF_K, 0, 0, 0x40000};
constexpr FilterInstruction nothing{BPF_RET | BPF_K, 0, 0, 0};

constexpr FilterInstruction isEqual(std::uint32_t value, std::uint8_t onTrue, std::uint8_t onFalse) {
    return {BPF_JMP | BPF_JEQ | BPF_K, onTrue, onFalse, value};
}
constexpr FilterInstruction hasBits(std::uint32_t value, std::uint8_t onTrue, std::uint8_t onFalse) {
    return {BPF_JMP | BPF_JSET | BPF_K, onTrue, onFalse, value};
}

/// As ISC's dhclient and dhcpd have it.
PacketFilter dhcp(std::uint32_t port) {
    return {etherType,
            isEqual(ETH_P_IP, 0, 8),
            protocol,
            isEqual(IPPROTO_UDP, 0, 6),
            fragment,
            hasBits(0x1fff, 4, 0),
            headerLength,
            destinationPort,
            isEqual(port, 0, 1),
            all,
            nothing};
}

PacketFilter of(std::uint32_t type) {
    return {etherType, isEqual(type, 0, 1), all, nothing};
}

TEST(PacketFilters, OfDhcpSpareWhatIsForwarded) {
    EXPECT_TRUE(sparesForwarded(dhcp(68)));
    EXPECT_TRUE(sparesForwarded(dhcp(67)));
    EXPECT_FALSE(sparesForwarded(dhcp(53)));
}

TEST(PacketFilters, OfOtherProtocolsSpareIt) {
    EXPECT_TRUE(sparesForwarded(of(ETH_P_ARP)));
    EXPECT_TRUE(sparesForwarded({nothing}));
    EXPECT_FALSE(sparesForwarded(of(ETH_P_IP)));
    EXPECT_FALSE(sparesForwarded(of(ETH_P_IPV6)));
    EXPECT_FALSE(sparesForwarded(of(ETH_P_8021Q))) << "whatever is behind the tag";
    EXPECT_FALSE(sparesForwarded(of(ETH_P_8021AD)));
}

/// Whatever they ask for then.
TEST(PacketFilters, OfGroupAddressesSpareIt) {
    constexpr FilterInstruction first{BPF_LD | BPF_B | BPF_ABS, 0, 0, 0};
    const auto of = [&](const FilterInstruction& load, std::uint32_t mask, std::uint32_t value) {
        return sparesForwarded(
            {load, {BPF_ALU | BPF_AND | BPF_K, 0, 0, mask}, isEqual(value, 0, 1), all, nothing});
    };
    EXPECT_TRUE(sparesForwarded(test::lldp()));
    for (const auto at : {20U, 22U}) { // the last one is for a single station
        auto another = test::lldp();
        another.at(at).operand++;
        EXPECT_FALSE(sparesForwarded(another)) << at;
    }
    EXPECT_TRUE(of(first, 1, 1));
    EXPECT_FALSE(of(first, 1, 0)) << "those for single stations";
    EXPECT_FALSE(of(first, 3, 1));
    EXPECT_FALSE(of(first, 2, 2));
    EXPECT_FALSE(of({BPF_LD | BPF_B | BPF_ABS, 0, 0, 6}, 1, 1)) << "of the source";
    EXPECT_FALSE(of({BPF_LD | BPF_H | BPF_ABS, 0, 0, 0}, 1, 1)) << "another byte";
    EXPECT_FALSE(
        sparesForwarded({first, {BPF_ALU | BPF_OR | BPF_K, 0, 0, 1}, isEqual(1, 0, 1), all, nothing}));
    EXPECT_FALSE(
        sparesForwarded({first, {BPF_ALU | BPF_AND | BPF_X, 0, 0, 1}, isEqual(1, 0, 1), all, nothing}));
    EXPECT_FALSE(sparesForwarded({first, isEqual(1, 0, 1), all, nothing}));
    EXPECT_FALSE(sparesForwarded({first,
                                  {BPF_ALU | BPF_AND | BPF_K, 0, 0, 1},
                                  {BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1},
                                  isEqual(1, 0, 1),
                                  all,
                                  nothing}));
}

TEST(PacketFilters, ThatAreNotUnderstoodDoNot) {
    EXPECT_FALSE(sparesForwarded({}));
    EXPECT_FALSE(sparesForwarded({all}));
    EXPECT_FALSE(sparesForwarded({{BPF_RET | BPF_A, 0, 0, 0}}));
    EXPECT_FALSE(sparesForwarded({etherType})) << "it ends in the middle";
    EXPECT_FALSE(sparesForwarded({etherType, isEqual(ETH_P_ARP, 0, 9), all})) << "a jump beyond its end";
    EXPECT_FALSE(sparesForwarded({{BPF_JMP | BPF_JA, 0, 0, 0xffffffff}, nothing}));
    PacketFilter longer(TNA_FILTER_LENGTH_MAX, etherType);
    longer.push_back(nothing);
    EXPECT_FALSE(sparesForwarded(longer));
    longer.erase(longer.begin());
    EXPECT_TRUE(sparesForwarded(longer));
}

TEST(PacketFilters, WithTooManyWaysAreNotUnderstood) {
    PacketFilter filter;
    for (unsigned i = 0; i + 1 < TNA_FILTER_LENGTH_MAX; i++)
        filter.push_back(hasBits(i, 0, 0));
    filter.push_back(nothing);
    EXPECT_FALSE(sparesForwarded(filter));
}

/// What was loaded last counts, and from where.
TEST(PacketFilters, AreFollowedInstructionByInstruction) {
    const auto with = [](std::size_t at, FilterInstruction instruction) {
        auto filter = dhcp(68);
        filter.at(at) = instruction;
        return sparesForwarded(filter);
    };
    EXPECT_TRUE(with(0, etherType));
    EXPECT_FALSE(with(0, {BPF_LD | BPF_W | BPF_ABS, 0, 0, 12}));
    EXPECT_FALSE(with(2, {BPF_LD | BPF_B | BPF_ABS, 0, 0, 24}));
    EXPECT_FALSE(with(3, isEqual(IPPROTO_UDP, 0, 5))) << "others are taken as well";
    EXPECT_FALSE(with(3, {BPF_JMP | BPF_JGT | BPF_K, 0, 6, IPPROTO_UDP}));
    EXPECT_FALSE(with(3, {BPF_JMP | BPF_JEQ | BPF_X, 0, 6, IPPROTO_UDP}));
    EXPECT_TRUE(with(5, hasBits(0x1fff, 0, 0))) << "fragments are Linux's";
    EXPECT_FALSE(with(6, {BPF_LDX | BPF_W | BPF_IMM, 0, 0, 20}));
    EXPECT_FALSE(with(6, {BPF_LDX | BPF_B | BPF_MSH, 0, 0, 15}));
    EXPECT_FALSE(with(7, {BPF_LD | BPF_H | BPF_IND, 0, 0, 14})) << "the source port";
    EXPECT_FALSE(with(7, {BPF_LD | BPF_H | BPF_ABS, 0, 0, 36}));
    EXPECT_FALSE(with(7, {BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1}));
    EXPECT_FALSE(with(7, {BPF_MISC | BPF_TXA, 0, 0, 0}));
    EXPECT_FALSE(with(8, isEqual(68, 0, 0)));
    auto filter = dhcp(68);
    filter.insert(filter.begin() + 7, {BPF_MISC | BPF_TAX, 0, 0, 0});
    EXPECT_FALSE(sparesForwarded(filter)) << "the index is another one";
}

/// Places in the index register, the length of the header computed from its first byte: as dhcpcd's.
TEST(PacketFilters, ByPlacesInARegisterAreFollowed) {
    EXPECT_TRUE(sparesForwarded(test::dhcpcd()));
    EXPECT_TRUE(sparesForwarded(test::dhcpcd(67)));
    EXPECT_FALSE(sparesForwarded(test::dhcpcd(53)));
    EXPECT_TRUE(sparesForwarded(test::dhcpcdArp()));
    const auto with = [](std::size_t at, FilterInstruction instruction) {
        auto filter = test::dhcpcd();
        filter.at(at) = instruction;
        return sparesForwarded(filter);
    };
    constexpr FilterInstruction shift{BPF_ALU | BPF_LSH | BPF_K, 0, 0, 2};
    EXPECT_TRUE(with(16, shift));
    EXPECT_TRUE(with(14, {BPF_LD | BPF_B | BPF_ABS, 0, 0, 14}));
    EXPECT_FALSE(with(3, {BPF_LDX | BPF_W | BPF_IMM, 0, 0, 15}));
    EXPECT_FALSE(with(3, {BPF_LDX | BPF_W | BPF_IMM, 0, 0, 0x1000e}));
    EXPECT_FALSE(with(3, {BPF_LDX | BPF_W | BPF_LEN, 0, 0, 14}));
    EXPECT_FALSE(with(3, headerLength)) << "what is added is not where the header begins";
    EXPECT_FALSE(with(8, {BPF_LD | BPF_B | BPF_IND, 0, 0, 10}));
    EXPECT_FALSE(with(8, {BPF_LD | BPF_H | BPF_IND, 0, 0, 9}));
    EXPECT_FALSE(with(14, {BPF_LD | BPF_B | BPF_IND, 0, 0, 1})) << "another byte";
    EXPECT_FALSE(with(15, {BPF_ALU | BPF_AND | BPF_K, 0, 0, 7}));
    EXPECT_FALSE(with(15, {BPF_ALU | BPF_OR | BPF_K, 0, 0, 15}));
    EXPECT_FALSE(with(16, {BPF_ALU | BPF_MUL | BPF_K, 0, 0, 2}));
    EXPECT_FALSE(with(16, {BPF_ALU | BPF_MUL | BPF_X, 0, 0, 4}));
    EXPECT_FALSE(with(16, {BPF_ALU | BPF_LSH | BPF_K, 0, 0, 4}));
    EXPECT_FALSE(with(17, {BPF_ALU | BPF_ADD | BPF_K, 0, 0, 14})) << "not understood";
    EXPECT_FALSE(with(17, {BPF_ALU | BPF_SUB | BPF_X, 0, 0, 0}));
    EXPECT_FALSE(with(17, shift)) << "it is no place";
    EXPECT_FALSE(with(18, {BPF_MISC | BPF_TXA, 0, 0, 0}));
    EXPECT_FALSE(with(19, {BPF_LD | BPF_H | BPF_IND, 0, 0, 0})) << "the source port";
    EXPECT_FALSE(with(19, {BPF_LD | BPF_H | BPF_IND, 0, 0, 0x10002}));
    EXPECT_FALSE(with(19, {BPF_LD | BPF_H | BPF_ABS, 0, 0, 2}));
    EXPECT_FALSE(with(19, {BPF_LD | BPF_B | BPF_IND, 0, 0, 2}));
}

TEST(PacketFilters, KnowWhatTheyHaveAsked) {
    // What is ARP is not IPv4 as well.
    EXPECT_TRUE(sparesForwarded(
        {etherType, isEqual(ETH_P_ARP, 0, 3), etherType, isEqual(ETH_P_IP, 0, 2), nothing, nothing, all}));
    EXPECT_FALSE(sparesForwarded(
        {etherType, isEqual(ETH_P_ARP, 0, 3), etherType, isEqual(ETH_P_IP, 0, 2), nothing, all, all}));
}

TEST(PacketFilters, AreKnownUpToANumber) {
    std::set<PacketFilter> filters{of(ETH_P_IP)};
    for (std::uint32_t type = 0x9000; type < 0x9000 + TNA_FILTERS_MAX + 1; type++)
        filters.insert(of(type));
    const auto found = sparing(filters);
    EXPECT_EQ(found.size(), std::size_t{TNA_FILTERS_MAX});
    EXPECT_EQ(found.front(), of(0x9000));
}

} // namespace
} // namespace tna::assemble
