// SPDX-License-Identifier: Apache-2.0
// What holds for all packets: random ones, and those that are wrong.
#include "expect.hpp"

#include <random>

namespace tna::nat64::test {
namespace {

Settings stateless() {
    Settings settings;
    settings.addresses = {Prefix::parse("2001:db8:64::/64").value(), true};
    settings.inside = {parsePrefix4("198.51.100.0/24").value()};
    settings.errorSource = v4("203.0.113.1");
    return settings;
}

std::string in6(const std::string& address) {
    return text(Prefix::parse("2001:db8:64::/64").value().embed(v4(address)));
}

TEST(StatelessPackets, ChecksumThatWasRightIsRight) {
    std::mt19937 random(1);
    const auto address = [&](const char* begin) { return begin + std::to_string(random() % 256); };
    for (unsigned i = 0; i < 20000; i++) {
        Translator translator(stateless());
        const auto inside = address("198.51.100."), outside = address("192.0.2.");
        const auto from = static_cast<std::uint16_t>(random()), to = static_cast<std::uint16_t>(random());
        const bool toSix = random() % 2 == 0;
        const Flow four = toSix ? Flow{outside, inside, from, to} : Flow{inside, outside, from, to};
        const Flow six{in6(four.from), in6(four.to), from, to};
        Bytes payload(random() % 64);
        for (auto& byte : payload)
            byte = static_cast<std::uint8_t>(random() % 4 == 0 ? 0xff : random() % 3 == 0 ? 0 : random());
        const More more{.dontFragment = toSix};
        const std::uint8_t echo4 = random() % 2 == 0 ? 0 : 8;
        const auto echo6 = static_cast<std::uint8_t>(echo4 == 8 ? 128 : 129);
        Bytes packet4, packet6;
        switch (random() % 3) {
        case 0:
            packet4 = udpPacket(four, payload, more), packet6 = udpPacket(six, payload);
            break;
        case 1:
            packet4 = tcpPacket(four, 0x18, payload, more), packet6 = tcpPacket(six, 0x18, payload);
            break;
        default:
            packet4 = echoPacket(four, echo4, from, more), packet6 = echoPacket(six, echo6, from);
        }
        ASSERT_NO_FATAL_FAILURE(
            expectBecomes(translator, toSix ? packet4 : packet6, toSix ? packet6 : packet4));
    }
}

TEST(StatelessPackets, ChecksumThatWasWrongIsWrong) {
    Translator translator(stateless());
    auto packet = udpPacket({in6("198.51.100.1"), in6("192.0.2.1"), 4000, 53});
    packet[46] ^= 0x10U;
    auto expected = udpPacket({"198.51.100.1", "192.0.2.1", 4000, 53}, Bytes(20, 7), {.dontFragment = false});
    const auto done = translate(translator, packet);
    ASSERT_EQ(done.outcome.reason, Reason::none);
    EXPECT_NE(hex(done.packet), hex(expected));
    expected[26] = done.packet[26];
    expected[27] = done.packet[27];
    EXPECT_EQ(hex(done.packet), hex(expected)) << "but for the checksum";
}

TEST(StatelessPackets, SourceWithoutCounterpartIsTold) {
    Translator translator(stateless());
    const auto packet = udpPacket({"2001:db8::5", in6("192.0.2.1"), 4000, 53});
    const auto done = translate(translator, packet);
    EXPECT_EQ(done.outcome.fate, Fate::answered);
    EXPECT_EQ(done.outcome.reason, Reason::notMapped);
    EXPECT_EQ(hex(done.packet), hex(errorPacket({in6("192.0.2.1"), "2001:db8::5"}, 1, 5, packet)));
    const auto neither = translate(translator, udpPacket({in6("192.0.2.7"), in6("192.0.2.1"), 4000, 53}));
    EXPECT_EQ(neither.outcome.reason, Reason::notMapped) << "the prefix alone makes no host";
}

TEST(StatelessPackets, ErrorsOfRoutersWithoutCounterpartHaveASourceOfTheirOwn) {
    Translator translator(stateless());
    const auto quoted6 = udpPacket({in6("192.0.2.1"), in6("198.51.100.1"), 53, 4000});
    const auto quoted4 = udpPacket({"192.0.2.1", "198.51.100.1", 53, 4000});
    expectBecomes(
        translator, errorPacket({"2001:db8::9", in6("192.0.2.1")}, 3, 0, quoted6),
        errorPacket({"203.0.113.1", "192.0.2.1"}, 11, 0, quoted4, {0, 0, 0, 0}, {.dontFragment = false}));
}

/// Errors are not answered by errors.
TEST(StatelessPackets, ErrorsOfRoutersWithoutCounterpartAreLeftAloneWithoutOne) {
    auto settings = stateless();
    settings.errorSource.reset();
    Translator translator(settings);
    const auto quoted = udpPacket({in6("192.0.2.1"), in6("198.51.100.1"), 53, 4000});
    expectLeft(translator, errorPacket({"2001:db8::9", in6("192.0.2.1")}, 3, 0, quoted), Reason::notMapped);
}

/// Extensions of ICMP (RFC 4884) are left out, with what fills up before them.
TEST(StatelessPackets, ExtensionsOfErrorsAreLeftOut) {
    Translator translator(stateless());
    const auto quoted4 = udpPacket({"198.51.100.1", "192.0.2.1", 53, 4000}, Bytes(20, 7));
    auto extended = quoted4;
    extended.resize(128);
    extended.insert(extended.end(), {0x20, 0, 1, 2, 0, 8, 1, 1, 9, 9, 9, 9});
    expectBecomes(translator, errorPacket({"192.0.2.9", "198.51.100.1"}, 11, 0, extended, {0, 32, 0, 0}),
                  errorPacket({in6("192.0.2.9"), in6("198.51.100.1")}, 3, 0,
                              udpPacket({in6("198.51.100.1"), in6("192.0.2.1"), 53, 4000}, Bytes(20, 7))));
}

TEST(StatelessPackets, LongErrorsAreCutToWhatAllNetworksTake) {
    Translator translator(stateless());
    const Flow four{"198.51.100.1", "192.0.2.1", 53, 4000};
    const auto done = translate(
        translator, errorPacket({"192.0.2.9", "198.51.100.1"}, 11, 0, udpPacket(four, Bytes(1300, 7))));
    ASSERT_EQ(done.packet.size(), 1280U);
    const Bytes message(done.packet.begin() + 40, done.packet.end());
    auto again = message;
    setChecksum(again, 2, pseudoOf({in6("192.0.2.9"), in6("198.51.100.1")}, icmp6, message.size()));
    EXPECT_EQ(message, again);
}

TEST(StatelessPackets, UdpWithoutChecksumMayBeDropped) {
    auto packet = udpPacket({"192.0.2.1", "198.51.100.1", 53, 4000});
    packet[26] = packet[27] = 0;
    auto settings = stateless();
    settings.limits.dropZeroChecksum = true;
    Translator translator(settings);
    expectLeft(translator, packet, Reason::zeroChecksum);
    Translator computing(stateless());
    for (const int length : {7, 29}) {
        packet[25] = static_cast<std::uint8_t>(length);
        expectLeft(computing, packet, Reason::malformed); // nobody knows what it is of
    }
}

TEST(StatelessPackets, RoutesThatHaveNotEndedAreTold) {
    Translator translator(stateless());
    auto transport = Bytes{17, 0, 0, 1, 0, 0, 0, 0};
    const auto contents = udpOf({in6("198.51.100.1"), in6("192.0.2.1")}, {});
    transport.insert(transport.end(), contents.begin(), contents.end());
    const auto routed = packetOf({in6("198.51.100.1"), in6("192.0.2.1")}, 43, transport);
    const auto told = translate(translator, routed);
    EXPECT_EQ(told.outcome.reason, Reason::routingHeader);
    EXPECT_EQ(hex(told.packet),
              hex(errorPacket({in6("192.0.2.1"), in6("198.51.100.1")}, 4, 0, routed, {0, 0, 0, 43})));
    expectLeft(translator, packetOf({in6("198.51.100.1"), "2001:db8::5"}, 43, transport), Reason::notOurs);
    auto options = udpPacket({"192.0.2.1", "198.51.100.1"});
    const Bytes route{131, 7, 4, 1, 2, 3, 4, 0};
    options.insert(options.begin() + 20, route.begin(), route.end());
    options[0] = 0x47;
    options[3] = static_cast<std::uint8_t>(options.size());
    Bytes header(options.begin(), options.begin() + 28);
    setChecksum(header, 10, {});
    std::copy(header.begin(), header.end(), options.begin());
    const auto refused = translate(translator, options);
    EXPECT_EQ(refused.outcome.reason, Reason::sourceRoute);
    EXPECT_EQ(hex(refused.packet), hex(errorPacket({"198.51.100.1", "192.0.2.1"}, 3, 5, options, {0, 0, 0, 0},
                                                   {.dontFragment = false})));
}

/// Errors are not answered by errors, whatever is in front of them (RFC 4443, 2.4).
TEST(StatelessPackets, ErrorsWithRoutesThatHaveNotEndedAreNotTold) {
    Translator translator(stateless());
    const Flow flow{in6("198.51.100.1"), in6("192.0.2.1")};
    constexpr std::uint8_t unreachable = 1, timeExceeded = 3, echo = 128;
    for (const auto type : {unreachable, timeExceeded, echo}) {
        auto transport = Bytes{icmp6, 0, 0, 1, 0, 0, 0, 0};
        const auto message = icmpOf(flow, type, 0, Bytes(60));
        transport.insert(transport.end(), message.begin(), message.end());
        const auto done = translate(translator, packetOf(flow, 43, transport));
        EXPECT_EQ(done.outcome.reason, Reason::routingHeader);
        EXPECT_EQ(done.outcome.fate, type == echo ? Fate::answered : Fate::leftAlone) << unsigned{type};
    }
}

/// A fragment that must not be split is not: its sender learns how long they may be, of the first one.
TEST(StatelessPackets, FragmentsThatMustNotBeSplitAreTold) {
    Translator translator(stateless());
    const Flow four{"192.0.2.1", "198.51.100.1", 53, 4000};
    const auto all = udpOf(four, Bytes(2500, 7));
    const auto fragment = [&](std::size_t at, std::size_t length, bool dontFragment) {
        const Bytes part(all.begin() + static_cast<std::ptrdiff_t>(at),
                         all.begin() + static_cast<std::ptrdiff_t>(at + length));
        return packetOf(four, udp, part,
                        {.id = 5,
                         .fragment = static_cast<std::uint16_t>(0x2000U | at / 8),
                         .dontFragment = dontFragment});
    };
    const auto tooLong = fragment(0, 1240, true);
    const auto told = translate(translator, tooLong);
    EXPECT_EQ(told.outcome.fate, Fate::answered);
    EXPECT_EQ(told.outcome.reason, Reason::tooLong);
    Bytes quoted(tooLong.begin(), tooLong.begin() + 576 - 28);
    EXPECT_EQ(hex(told.packet), hex(errorPacket({"198.51.100.1", "192.0.2.1"}, 3, 4, quoted,
                                                {0, 0, 1252 >> 8U, 1252 & 0xffU}, {.dontFragment = false})));
    expectLeft(translator, fragment(1240, 1240, true), Reason::tooLong);
    EXPECT_EQ(translate(translator, fragment(0, 1232, true)).packet.size(), 1280U);
    EXPECT_EQ(translate(translator, fragment(0, 1240, false)).packet.size(), 1288U) << "to be split";
}

/// Of one link only (RFC 7915, 4.2).
TEST(StatelessPackets, GroupMessagesAreDropped) {
    Translator translator(stateless());
    expectLeft(translator, packetOf({"192.0.2.1", "198.51.100.1"}, 2, Bytes{0x11, 0, 0xee, 0xff, 0, 0, 0, 0}),
               Reason::protocol);
}

/// Whatever is cut off or changed, nothing outside of the packet is read or written (asan), and what is not
/// translated stays as it is.
TEST(StatelessPackets, ShortOnesAreLeftAlone) {
    Translator translator(stateless());
    const Flow four{"192.0.2.1", "198.51.100.1"};
    const Flow six{in6("198.51.100.1"), in6("192.0.2.1")};
    for (const auto& whole : {udpPacket(four), tcpPacket(four, 2), echoPacket(four, 8, 1), udpPacket(six),
                              tcpPacket(six, 2), errorPacket(six, 1, 4, udpPacket({six.to, six.from}))})
        for (std::size_t length = 0; length < whole.size(); length++)
            expectLeft(translator, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)),
                       Reason::malformed);
}

} // namespace
} // namespace tna::nat64::test
