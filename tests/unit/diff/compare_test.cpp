// SPDX-License-Identifier: Apache-2.0
// What is a difference, and what is not.
#include "diff/compare.hpp"
#include "diff/random/writer.hpp"
#include "diff/statistics.hpp"
#include "diff/unasked.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tna::diff {
namespace {

Frame segment(unsigned port, unsigned number) {
    return Writer(station(1), station(2))
        .packet(Header4{.from = address4(0, 1), .to = address4(0, 2)}, udp(port, 80, 20, number))
        .done();
}

Seen seen(std::vector<Frame> frames) {
    return {{{"p1", std::move(frames)}}, {}};
}

TEST(Comparison, SameFramesAreNoDifference) {
    unsigned reordered = 0;
    EXPECT_FALSE(
        compare(seen({segment(1, 1), segment(1, 2)}), seen({segment(1, 1), segment(1, 2)}), reordered));
    EXPECT_EQ(reordered, 0U);
}

TEST(Comparison, OrderMattersWithinAFlowOnly) {
    unsigned reordered = 0;
    EXPECT_FALSE(
        compare(seen({segment(1, 1), segment(2, 1)}), seen({segment(2, 1), segment(1, 1)}), reordered));
    EXPECT_EQ(reordered, 1U);
    const auto found =
        compare(seen({segment(1, 1), segment(1, 2)}), seen({segment(1, 2), segment(1, 1)}), reordered);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->where, "p1");
}

TEST(Comparison, EachByteMatters) {
    unsigned reordered = 0;
    const auto frame = segment(1, 1);
    for (std::size_t i = 0; i < frame.size(); i++) {
        auto other = frame;
        other[i] ^= 1U;
        EXPECT_TRUE(compare(seen({frame}), seen({other}), reordered)) << i;
    }
}

TEST(Comparison, MissingAndAdditionalFramesAreDifferences) {
    unsigned reordered = 0;
    const auto frame = segment(1, 1);
    EXPECT_TRUE(compare(seen({frame}), {}, reordered));
    EXPECT_TRUE(compare({}, seen({frame}), reordered));
    EXPECT_TRUE(compare(seen({frame}), seen({frame, frame}), reordered));
    EXPECT_TRUE(compare({{{"p1", {frame}}}, {}}, {{{"p2", {frame}}}, {}}, reordered));
    EXPECT_TRUE(compare({{}, {"heard"}}, {}, reordered));
}

/// For a neighbour's address.
const Frame question = Writer({255, 255, 255, 255, 255, 255}, station(0xff10))
                           .type(0x0806)
                           .bytes({0, 1, 8, 0, 6, 4, 0, 1})
                           .filling(38)
                           .done();

TEST(Comparison, WhatAHostSaysUnaskedIsItsOwn) {
    EXPECT_TRUE(comesUnasked(question, {{station(0xff10)}, {}}));
    EXPECT_FALSE(comesUnasked(question, {{station(0xff11)}, {}})); // somebody else's
    EXPECT_FALSE(comesUnasked(segment(1, 1), {{station(2)}, {}}));
}

/// Of batman-adv: what neighbours say of themselves is 0, 3 and 4; what others have said to all is 1.
TEST(Comparison, WhatAMeshSaysOfItselfIsItsOwn) {
    const Own own{{station(0xff10)}, {}};
    const auto frame = [](std::uint8_t kind, Mac from) {
        return Writer({255, 255, 255, 255, 255, 255}, from).type(0x4305).bytes({kind}).filling(45).done();
    };
    for (const auto kind : std::array<std::uint8_t, 3>{0, 3, 4})
        EXPECT_TRUE(comesUnasked(frame(kind, station(0xff10)), own)) << int{kind};
    EXPECT_FALSE(comesUnasked(frame(1, station(0xff10)), own));
    EXPECT_FALSE(comesUnasked(frame(0, station(0xff11)), own));
}

/// An address of IPv6 that ends with this.
std::array<std::uint8_t, 16> address6(std::uint8_t last) {
    return {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
}

/// A fragment with this identification.
Frame fragment6(std::uint8_t from, std::uint8_t number) {
    const auto source = address6(from);
    return Writer(station(1), station(0xff10))
        .type(0x86dd)
        .bytes({0x60, 0, 0, 0, 0, 16, 44, 64})
        .bytes({source.begin(), source.end()})
        .filling(16)
        .bytes({17, 0, 0, 1, 9, 9, 9, number})
        .filling(8)
        .done();
}

TEST(Comparison, FragmentsHaveNumbersOfChanceWhereAHostMakesThem) {
    const Own own{{station(0xff10)}, {address6(1)}};
    auto one = fragment6(1, 1), other = fragment6(1, 2);
    forgetChance(one, own);
    forgetChance(other, own);
    EXPECT_EQ(one, other);
    const auto before = fragment6(2, 1);
    auto routed = before;
    forgetChance(routed, own);
    EXPECT_EQ(routed, before);
}

/// Sets a checksum right.
Frame summed(Frame frame, std::size_t from, std::size_t size, std::size_t place = 10) {
    frame[from + place] = frame[from + place + 1] = 0;
    const auto sum = internetChecksum(&frame[from], size);
    frame[from + place] = static_cast<std::uint8_t>(sum >> 8U);
    frame[from + place + 1] = static_cast<std::uint8_t>(sum);
    return frame;
}

/// An error of the host's, with a number of its own, sent by a route that encapsulates: `behind` a routing
/// header.
Frame encapsulated(std::uint8_t number, bool behindRoutingHeader) {
    Writer writer(station(1), station(0xff10));
    writer.type(0x86dd).bytes(
        {0x60, 0, 0, 0, 0, 52, behindRoutingHeader ? std::uint8_t{43} : std::uint8_t{4}, 1});
    writer.filling(32);
    if (behindRoutingHeader)
        writer.bytes({4, 2, 4, 0, 0, 0, 0, 0}).filling(16);
    auto frame = writer.bytes({0x45, 0, 0, 28, number, number, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
                     .bytes({3, 3, 0, 0, 0, 0, 0, 0})
                     .done();
    const auto inner = frame.size() - 28;
    return summed(std::move(frame), inner, 20);
}

TEST(Comparison, WhatTheHostNumbersByChanceIsForgottenWithinIpv6) {
    const Own own{{station(0xff10)}, {}};
    for (const bool behindRoutingHeader : {false, true}) {
        auto one = encapsulated(1, behindRoutingHeader), other = encapsulated(2, behindRoutingHeader);
        ASSERT_NE(one, other);
        forgetChance(one, own);
        forgetChance(other, own);
        EXPECT_EQ(one, other) << behindRoutingHeader;
    }
}

/// "Time exceeded" about a packet that asked routers for the time.
Frame complaint(std::uint8_t milliseconds) {
    auto frame = Writer(station(1), station(0xff10))
                     .type(0x0800)
                     .bytes({0x45, 0, 0, 64, 0, milliseconds, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
                     .bytes({11, 0, 0, 0, 0, 0, 0, 0})
                     .bytes({0x47, 0, 0, 36, 0, 1, 0, 0, 1, 17, 0, 0, 10, 0, 0, 2, 10, 0, 1, 2})
                     .bytes({0x44, 8, 9, 0, 0, 0, 0, milliseconds})
                     .filling(8)
                     .done();
    return summed(summed(summed(frame, 14, 20), 42, 28), 34, 44, 2);
}

/// A message of ICMP, sent or forwarded by the host's device.
Frame icmpFrom(std::uint8_t host, std::uint8_t number, std::uint8_t lifetime = 63,
               const std::vector<std::uint8_t>& message = {8, 0, 0, 0, 0, 0, 0, 0}) {
    auto frame = Writer(station(1), station(0xff10))
                     .type(0x0800)
                     .bytes({0x45, 0, 0, 28, 0, number, 0, 0, lifetime, 1, 0, 0, 10, 0, 0, host, 10, 0, 0, 2})
                     .bytes(message)
                     .done();
    return summed(frame, 14, 20);
}

TEST(Comparison, OnlyWhatTheHostMakesHasNumbersOfChance) {
    const Own own{{station(0xff10)}, {}, {{0x0a000001}}};
    const auto after = [&](Frame frame) {
        forgetChance(frame, own);
        return frame;
    };
    EXPECT_EQ(after(icmpFrom(1, 7)), after(icmpFrom(1, 8)));
    EXPECT_EQ(after(icmpFrom(3, 7)), icmpFrom(3, 7)) << "it is forwarded";
    EXPECT_EQ(after(icmpFrom(3, 7, 64)), after(icmpFrom(3, 8, 64))) << "from an address of a connection";
    auto wrong = icmpFrom(1, 7);
    wrong[24] ^= 1U;
    EXPECT_NE(after(wrong), after(icmpFrom(1, 7))) << "a wrong checksum stays wrong";
    EXPECT_EQ(after(wrong)[24], wrong[24]);
}

TEST(Comparison, ForwardedComplaintsAreCompared) {
    const Own own{{station(0xff10)}, {address6(1)}, {{0x0a000001}}};
    for (const auto& message : std::vector<std::vector<std::uint8_t>>{{3, 0, 0, 0, 0, 0, 0, 0},
                                                                      {3, 1, 0, 0, 0, 0, 0, 0},
                                                                      {3, 13, 0, 0, 0, 0, 0, 0},
                                                                      {5, 1, 0, 0, 10, 0, 0, 3},
                                                                      {11, 1, 0, 0, 0, 0, 0, 0},
                                                                      {14, 0, 0, 0, 0, 0, 0, 0}}) {
        EXPECT_TRUE(comesUnasked(icmpFrom(1, 0, 63, message), own)) << int{message[0]};
        EXPECT_FALSE(comesUnasked(icmpFrom(3, 0, 63, message), own)) << int{message[0]};
    }
    const auto noNeighbour6 = [](std::uint8_t from) {
        const auto source = address6(from), to = address6(2);
        return Writer(station(1), station(0xff10))
            .type(0x86dd)
            .bytes({0x60, 0, 0, 0, 0, 8, 58, 63})
            .bytes({source.begin(), source.end()})
            .bytes({to.begin(), to.end()})
            .bytes({1, 3, 0, 0, 0, 0, 0, 0})
            .done();
    };
    EXPECT_TRUE(comesUnasked(noNeighbour6(1), own));
    EXPECT_FALSE(comesUnasked(noNeighbour6(3), own));
}

TEST(Comparison, RedirectsComeInBothOrInNeither) {
    const Own own{{station(0xff10)}, {}, {{0x0a000001}}};
    const std::vector<std::uint8_t> redirect{5, 1, 0, 0, 10, 0, 0, 3};
    EXPECT_EQ(redirectedBy(icmpFrom(1, 0, 64, redirect), own), "0a000002");
    EXPECT_FALSE(redirectedBy(icmpFrom(3, 0, 63, redirect), own));
    EXPECT_FALSE(redirectedBy(icmpFrom(1, 0), own));
    unsigned reordered = 0;
    Seen with, without;
    with.redirected = {"p0 to 0a000002"};
    EXPECT_TRUE(compare(with, without, reordered));
    EXPECT_TRUE(compare(without, with, reordered));
    EXPECT_FALSE(compare(with, with, reordered));
}

/// "Port unreachable" about what a tunnel (VXLAN) of the host has sent, or about other UDP.
Frame complaintToTunnel(std::uint8_t number, std::uint16_t port) {
    const auto high = static_cast<std::uint8_t>(port >> 8), low = static_cast<std::uint8_t>(port);
    auto frame = Writer(station(1), station(0xff10))
                     .type(0x0800)
                     .bytes({0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1})
                     .bytes({3, 1, 0, 0, 0, 0, 0, 0})
                     .bytes({0x45, 0, 0, 128, number, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2})
                     .bytes({0xed, 0x19, high, low, 0, 108, 0, 0})
                     .done();
    return summed(summed(frame, 42, 20), 34, 36, 2);
}

TEST(Comparison, NumbersOfTunnelsAreForgottenAlsoWhereTheyAreQuoted) {
    const Own own{{station(0xff10)}, {}, {{0x0a000001}}};
    constexpr std::uint16_t vxlan = 4789, other = 4790;
    for (const auto port : {vxlan, other}) {
        auto one = complaintToTunnel(1, port), two = complaintToTunnel(2, port);
        forgetChance(one, own);
        forgetChance(two, own);
        EXPECT_EQ(one == two, port == vxlan);
    }
}

/// "Host unreachable" (1) or another to the host itself, about a frame in its tunnel.
Frame complaintAboutCarried(const Frame& carried, std::uint8_t code) {
    auto packet = Writer(station(1), station(2))
                      .bytes({0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1})
                      .bytes({3, code, 0, 0, 0, 0, 0, 0})
                      .bytes({0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2})
                      .bytes({0xed, 0x19, 0x12, 0xb5, 0, 108, 0, 0, 8, 0, 0, 0, 0, 0, 7, 0})
                      .bytes(carried)
                      .done();
    packet.erase(packet.begin(), packet.begin() + 12);
    return packet;
}

TEST(Comparison, ComplaintsAboutWhatComesUnaskedAreNotCompared) {
    const Own own{{station(0xff10)}, {}};
    EXPECT_TRUE(quotesUnasked(complaintAboutCarried(question, 4), own));
    EXPECT_TRUE(quotesUnasked(complaintAboutCarried(segment(1, 1), 1), own));
    EXPECT_FALSE(quotesUnasked(complaintAboutCarried(segment(1, 1), 4), own));
    EXPECT_FALSE(quotesUnasked(complaintAboutCarried(question, 4), {{station(0xff11)}, {}}));
    EXPECT_FALSE(quotesUnasked({}, own));
}

TEST(Comparison, TimeOfDayIsForgottenAlsoWhereItIsQuoted) {
    const Own own{{station(0xff10)}, {}};
    auto one = complaint(1), other = complaint(2);
    forgetChance(one, own);
    forgetChance(other, own);
    EXPECT_EQ(one, other);
    auto different = complaint(1);
    different.back() ^= 1U;
    forgetChance(different, own);
    EXPECT_NE(one, different);
}

TEST(Comparison, TimeOfDayIsForgottenWhereThePacketEnds) {
    const auto arrived = [](std::uint8_t milliseconds, std::uint8_t payload, std::uint8_t written = 0) {
        Frame packet{0x47, 0, 0,  30, 0, 1,    0, 0, 64, 17, 0, 0, 10,           0,       0,
                     2,    0, 10, 0,  0, 0x44, 8, 9, 0,  0,  0, 0, milliseconds, payload, 0};
        packet = summed(packet, 0, 28);
        packet[26] = written; // by the host itself, which does not change the sum
        forgetChanceInPacket(packet, {});
        return packet;
    };
    EXPECT_EQ(arrived(1, 7), arrived(2, 7));
    EXPECT_NE(arrived(1, 7), arrived(1, 8));
    EXPECT_EQ(arrived(1, 7, 3), arrived(2, 7, 4));
    EXPECT_NE(arrived(1, 7, 3), arrived(1, 7)) << "only one of the two has a sum that is right";
    Frame few(19, 0x44);
    forgetChanceInPacket(few, {});
    EXPECT_EQ(few, Frame(19, 0x44));
}

/// As it is sent by a VLAN device.
Frame tagged(Frame frame) {
    frame.insert(frame.begin() + 12, {0x81, 0, 0, 10});
    return frame;
}

TEST(Comparison, TagsDoNotHideWhatAHostSaysByItself) {
    const Own own{{station(0xff10)}, {}};
    const auto question =
        Writer({255, 255, 255, 255, 255, 255}, station(0xff10)).type(0x0806).bytes({0, 1, 8, 0, 6, 4, 0, 1});
    EXPECT_TRUE(comesUnasked(tagged(Writer(question).filling(38).done()), own));
    auto one = tagged(complaint(1)), other = tagged(complaint(2));
    EXPECT_NE(one, other);
    forgetChance(one, own);
    forgetChance(other, own);
    EXPECT_EQ(one, other);
    EXPECT_EQ(one[15], 10) << "the tag is compared";
    EXPECT_EQ(one.size(), tagged(complaint(1)).size());
}

TEST(Comparison, CountersOfTheHostItselfAreCompared) {
    EXPECT_EQ(
        ownCounters("Ip: Forwarding InReceives InDelivers InAddrErrors\nIp: 1 77 5 3\nTcp: InErrs\nTcp: 2\n"),
        "IpForwarding 1\nIpInAddrErrors 3\nTcpInErrs 2\n");
    EXPECT_EQ(ownCounters("Ip6InReceives 7\nIp6InHdrErrors 3\n"), "Ip6InHdrErrors 3\n");
}

TEST(Comparison, WhatTheFastPathCountsIsLinuxsShare) {
    Figures figures{.fast = 2, .slow = 1, .bytes = 160, .reasons = {}};
    EXPECT_EQ(forwardedBy("Ip: Forwarding ForwDatagrams\nIp: 1 5\n"), 5U);
    EXPECT_EQ(forwardedBy("Ip6InReceives 7\nIp6OutForwDatagrams 3\n"), 3U);
    EXPECT_FALSE(compareForwarded(5, 3, figures));
    EXPECT_TRUE(compareForwarded(5, 4, figures));
    EXPECT_TRUE(compareForwarded(6, 3, figures));
    EXPECT_FALSE(compareCounted({60, 100, 60}, figures));
    EXPECT_TRUE(compareCounted({60, 60, 60}, figures)) << "more than there was";
    EXPECT_TRUE(compareCounted({100, 100, 100}, figures)) << "less";
    EXPECT_TRUE(compareCounted({100}, figures)) << "more packets";
}

TEST(Times, OfConnectionsMayDifferByWhatIsPutOff) {
    const auto line = [](int seconds, const char* rest = "zone=0 use=2") {
        return fmt::format(
            "ipv4     2 udp      17 {} src=10.0.0.2 dst=10.0.1.2 sport=1 dport=2 [ASSURED] {}\n", seconds,
            rest);
    };
    EXPECT_FALSE(compareTimes(line(600), line(598)));
    EXPECT_FALSE(compareTimes(line(600) + line(7, "zone=3 use=2"), line(7, "zone=3 use=2") + line(600)));
    EXPECT_FALSE(compareTimes(line(600, "delta-time=1 use=2"), line(600, "delta-time=2 use=2")));
    EXPECT_TRUE(compareTimes(line(600), line(597)));
    EXPECT_TRUE(compareTimes(line(600), line(1000)));
}

TEST(CompareMemory, OfResetsWhereItWasStartedAnew) {
    const auto entry = [](const char* state, int port) {
        return fmt::format("ipv4     2 tcp      6 {} src=10.0.0.2 dst=10.0.1.2 sport={} dport=2 [ASSURED]\n",
                           state, port);
    };
    const auto closed = entry("CLOSE", 1), stays = entry("ESTABLISHED", 1);
    EXPECT_TRUE(compareMemory(closed, stays, false));
    EXPECT_FALSE(compareMemory(closed, closed, true));
    EXPECT_FALSE(compareMemory(closed, stays, true));
    EXPECT_FALSE(compareMemory(closed + entry("CLOSE", 2), entry("ESTABLISHED", 2) + closed, true));
    EXPECT_TRUE(compareMemory(stays, closed, true));
    EXPECT_TRUE(compareMemory(closed, "", true));
    EXPECT_TRUE(compareMemory(closed, closed + stays, true));
    EXPECT_TRUE(compareMemory(closed, entry("ESTABLISHED", 2), true));
    EXPECT_TRUE(compareMemory(entry("TIME_WAIT", 1), stays, true));
}

} // namespace
} // namespace tna::diff
