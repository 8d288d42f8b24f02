// SPDX-License-Identifier: Apache-2.0
#include "frames.hpp"

namespace tna::balancer::test {
namespace {

const Flow flow4{"198.51.100.2", "192.0.2.80", 4000, 80};
const Flow flow6{"2001:db8::2", "2001:db8:2::80", 4000, 80};

Kind kindOf(const Bytes& packet) {
    return parse(frameOf(packet)).kind;
}

TEST(Parsing, SegmentsHaveEndpoints) {
    for (const auto& flow : {flow4, flow6})
        for (const bool isTcp : {true, false}) {
            const auto frame = frameOf(isTcp ? tcpPacket(flow, syn) : udpPacket(flow));
            const auto packet = parse(frame);
            EXPECT_EQ(packet.kind, Kind::segment);
            EXPECT_EQ(text(packet.outer.from), isSix(flow) ? "[2001:db8::2]:4000" : "198.51.100.2:4000");
            EXPECT_EQ(text(packet.outer.to), isSix(flow) ? "[2001:db8:2::80]:80" : "192.0.2.80:80");
            EXPECT_EQ(packet.outer.flags, isTcp ? +syn : 0);
            EXPECT_EQ(packet.outer.end, frame.size());
        }
}

/// Short frames are filled up.
TEST(Parsing, WhatIsBehindThePacketIsNotOfIt) {
    auto frame = frameOf(udpPacket(flow4, {1}));
    const auto length = frame.size();
    frame.resize(60);
    EXPECT_EQ(parse(frame).kind, Kind::segment);
    EXPECT_EQ(parse(frame).outer.end, length);
}

TEST(Parsing, TagsArePassedOver) {
    auto frame = frameOf(tcpPacket(flow4, syn));
    const Bytes tag{0x81, 0, 0, 5}, outerTag{0x88, 0xa8, 0, 6};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    EXPECT_EQ(parse(frame).kind, Kind::segment);
    frame.insert(frame.begin() + 12, outerTag.begin(), outerTag.end());
    EXPECT_EQ(parse(frame).kind, Kind::segment);
    frame.insert(frame.begin() + 12, outerTag.begin(), outerTag.end());
    EXPECT_EQ(parse(frame).kind, Kind::otherKind) << "three are too many";
}

TEST(Parsing, PiecesAndOptionsAreTold) {
    EXPECT_EQ(kindOf(udpPacket(flow4, Bytes(64, 1), {.fragment = 0x2000, .dontFragment = false})),
              Kind::fragment);
    EXPECT_EQ(kindOf(udpPacket(flow4, Bytes(64, 1), {.fragment = 100, .dontFragment = false})),
              Kind::fragment);
    auto six = udpPacket(flow6, Bytes(64, 1));
    for (const std::uint8_t next : std::initializer_list<std::uint8_t>{0, 43, 51, 60}) {
        six[6] = next;
        EXPECT_EQ(kindOf(six), Kind::options) << int{next};
    }
    six[6] = 44;
    EXPECT_EQ(kindOf(six), Kind::fragment);
    auto four = udpPacket(flow4, Bytes(64, 1));
    four[0] = 0x46;
    EXPECT_EQ(kindOf(four), Kind::options);
}

TEST(Parsing, LengthsThatContradictEachOtherAreTold) {
    const auto broken = [](Bytes packet, std::size_t at, std::uint8_t value) {
        packet[at] = value;
        return kindOf(packet);
    };
    const auto four = tcpPacket(flow4, ack), six = tcpPacket(flow6, ack);
    EXPECT_EQ(broken(four, 3, 41), Kind::malformed) << "longer than the frame";
    EXPECT_EQ(broken(four, 3, 39), Kind::malformed) << "too short for TCP";
    EXPECT_EQ(broken(four, 3, 19), Kind::malformed) << "shorter than its header";
    EXPECT_EQ(broken(four, 0, 0x44), Kind::malformed);
    EXPECT_EQ(broken(four, 32, 0x40), Kind::malformed) << "TCP header of 16 bytes";
    EXPECT_EQ(broken(four, 32, 0x60), Kind::malformed) << "TCP header of 24 bytes, of which 20 are there";
    EXPECT_EQ(broken(six, 5, 21), Kind::malformed);
    EXPECT_EQ(broken(six, 5, 19), Kind::malformed);
    for (const auto& packet : {four, six}) {
        auto frame = frameOf(packet);
        frame[14] ^= 0x10U;
        EXPECT_EQ(parse(frame).kind, Kind::malformed) << "of no version that the frame says";
    }
    const auto datagram = udpPacket(flow4, Bytes(8, 1));
    EXPECT_EQ(broken(datagram, 25, 17), Kind::malformed) << "UDP that is longer than the packet";
    EXPECT_EQ(broken(datagram, 25, 7), Kind::malformed);
}

/// However short: it is read within its bounds, as sanitizers see.
TEST(Parsing, FramesMayEndAnywhere) {
    for (const auto& packet :
         {tcpPacket(flow4, ack), tcpPacket(flow6, ack), errorPacket(flow4, 3, 1, tcpPacket(flow4, ack)),
          errorPacket(flow6, 1, 4, tcpPacket(flow6, ack))}) {
        const auto whole = frameOf(packet);
        for (std::size_t length = 0; length < whole.size(); length++) {
            const Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
            EXPECT_NE(parse(frame).kind, Kind::segment) << length;
            EXPECT_NE(parse(frame).kind, Kind::error) << length;
        }
    }
}

TEST(Parsing, ErrorsAreThoseThatSayWhatHasBecomeOfAPacket) {
    for (int type = 0; type < 256; type++) {
        const auto wanted4 = type == 3 || type == 11 || type == 12 ? Kind::error : Kind::otherKind;
        const auto wanted6 = type >= 1 && type <= 4 ? Kind::error : Kind::otherKind;
        const auto number = static_cast<std::uint8_t>(type);
        EXPECT_EQ(kindOf(errorPacket(flow4, number, 0, tcpPacket(flow4, ack))), wanted4) << type;
        EXPECT_EQ(kindOf(errorPacket(flow6, number, 0, tcpPacket(flow6, ack))), wanted6) << type;
    }
}

/// An address of IPv6 that would be taken for one of IPv4, of which services may have one.
TEST(Parsing, MappedAddressesAreNobodys) {
    EXPECT_EQ(kindOf(tcpPacket({"2001:db8::2", "::ffff:192.0.2.80", 4000, 80}, syn)), Kind::otherKind);
    EXPECT_EQ(kindOf(tcpPacket({"::ffff:198.51.100.2", "2001:db8:2::80", 4000, 80}, syn)), Kind::otherKind);
}

TEST(Addresses, ThoseOfHostsAreSources) {
    for (const auto* good : {"198.51.100.2", "10.0.0.1", "2001:db8::1", "fe80::1", "fd00::1"})
        EXPECT_TRUE(ip(good).isSource()) << good;
    for (const auto* bad : {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "ff02::1"})
        EXPECT_FALSE(ip(bad).isSource()) << bad;
    for (const auto* bad : {"", "1.2.3", "1.2.3.4 ", "::ffff:1.2.3.4", "x"})
        EXPECT_FALSE(parseAddress(bad)) << bad;
}

} // namespace
} // namespace tna::balancer::test
