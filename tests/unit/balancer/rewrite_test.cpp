// SPDX-License-Identifier: Apache-2.0
// Checksums that are changed, beside those of the same packet that is made from scratch.
#include "frames.hpp"
#include "rewrite.hpp"

#include <random>

namespace tna::balancer::test {
namespace {

std::mt19937 random_(3);

std::string someAddress(bool six) {
    const auto byte = [] { return random_() % 256; };
    if (!six)
        return fmt::format("{}.{}.{}.{}", byte() % 223 + 1, byte(), byte(), byte());
    return fmt::format("2001:{:x}:{:x}::{:x}", random_() % 65536, random_() % 65536, random_() % 65536);
}
std::uint16_t somePort() {
    return static_cast<std::uint16_t>(random_());
}
Bytes someBytes() {
    Bytes bytes(random_() % 100);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(random_());
    return bytes;
}
Flow someFlow(bool six) {
    return {someAddress(six), someAddress(six), somePort(), somePort()};
}
void replace(Flow& flow, Side side, const std::string& address, std::uint16_t port) {
    (side == Side::from ? flow.from : flow.to) = address;
    (side == Side::from ? flow.fromPort : flow.toPort) = port;
}

TEST(Rewriting, SegmentsAreAsIfMadeSo) {
    for (int i = 0; i < 20'000; i++) {
        const bool six = i % 2 != 0, isTcp = i % 4 < 2;
        auto flow = someFlow(six);
        const auto payload = someBytes();
        const auto made = [&] {
            return frameOf(isTcp ? tcpPacket(flow, ack, payload) : udpPacket(flow, payload));
        };
        auto frame = made();
        const auto side = random_() % 2 == 0 ? Side::from : Side::to;
        const auto address = someAddress(six);
        const auto port = somePort();
        setEndpoint(frame, parse(frame), side, {ip(address), port});
        replace(flow, side, address, port);
        ASSERT_EQ(hex(frame), hex(made())) << i;
    }
}

TEST(Rewriting, ErrorsAreAsIfMadeSo) {
    for (int i = 0; i < 20'000; i++) {
        const bool six = i % 2 != 0, isTcp = i % 4 < 2;
        auto flow = someFlow(six), outer = someFlow(six);
        const auto payload = someBytes();
        const auto quotes = random_() % 3; // all of it, with TCP's checksum, eight bytes
        const auto made = [&] {
            auto quoted = isTcp ? tcpPacket(flow, ack, payload) : udpPacket(flow, payload);
            if (quotes == 2)
                quoted.resize((six ? 40U : 20U) + 8);
            else if (quotes == 1)
                quoted.resize(std::min<std::size_t>(quoted.size(), (six ? 40U : 20U) + 20));
            return frameOf(errorPacket(outer, six ? 2 : 3, six ? 0 : 4, quoted, {0, 0, 5, 0}));
        };
        auto frame = made();
        const auto packet = parse(frame);
        ASSERT_EQ(packet.kind, Kind::error);
        const auto side = random_() % 2 == 0 ? Side::from : Side::to;
        const auto address = someAddress(six), router = someAddress(six);
        const auto port = somePort();
        setQuoted(frame, packet, side, {ip(address), port});
        setAddress(frame, packet, side, ip(router));
        replace(flow, side, address, port);
        (side == Side::from ? outer.from : outer.to) = router;
        ASSERT_EQ(hex(frame), hex(made())) << i;
    }
}

TEST(Rewriting, UdpWithoutChecksumStaysWithout) {
    Flow flow{"198.51.100.2", "192.0.2.80", 4000, 53};
    const auto without = [&] {
        auto frame = frameOf(udpPacket(flow));
        frame[14 + 20 + 6] = frame[14 + 20 + 7] = 0;
        return frame;
    };
    auto frame = without();
    setEndpoint(frame, parse(frame), Side::to, {ip("10.0.1.11"), 5353});
    replace(flow, Side::to, "10.0.1.11", 5353);
    EXPECT_EQ(hex(frame), hex(without()));
}

TEST(Rewriting, WrongChecksumStaysWrong) {
    Flow flow{"198.51.100.2", "192.0.2.80", 4000, 80};
    const auto wrong = [&] {
        auto frame = frameOf(tcpPacket(flow, ack, Bytes(20, 7)));
        frame.back() ^= 1U; // on its way
        return frame;
    };
    auto frame = wrong();
    setEndpoint(frame, parse(frame), Side::to, {ip("10.0.1.11"), 8080});
    replace(flow, Side::to, "10.0.1.11", 8080);
    EXPECT_EQ(hex(frame), hex(wrong()));
}

} // namespace
} // namespace tna::balancer::test
