// SPDX-License-Identifier: Apache-2.0
// IPv6 packets as nobody should send them: Linux with and without tna does the same with each.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

constexpr std::size_t header = 14;
constexpr std::size_t headerLength = 40;

class Routed6Frames : public Route6Test {
protected:
    void SetUp() override {
        Route6Test::SetUp();
        if (IsSkipped())
            return;
        // Questions for neighbours would come once in a second.
        for (const char* port : {"p0", "p1", "p2"})
            sysctl(std::string("net.ipv6.neigh.") + port + ".mcast_solicit", "0");
    }
    /// With these bytes behind the header, of which the first is the type of what follows.
    static Frame followedBy(const std::vector<std::uint8_t>& bytes, std::uint8_t next) {
        auto frame = packet({.next = next, .payload = 32});
        std::ranges::copy(bytes, frame.bytes.begin() + header + headerLength);
        return frame;
    }
};

TEST_F(Routed6Frames, EachByteOfTheHeaderWithOtherValues) {
    must("ip -6 route add default via fd00:0:0:2::2");
    std::vector<Frame> frames;
    for (std::size_t at = header; at < header + headerLength; at++)
        for (const unsigned value : {0U, 1U, 2U, 4U, 0x10U, 0x2aU, 0x60U, 0x7fU, 0x80U, 0xfeU, 0xffU}) {
            frames.push_back(packet());
            frames.back().bytes[at] = static_cast<std::uint8_t>(value);
        }
    EXPECT_GT(expectEachAsLinux(frames), 200U);
}

TEST_F(Routed6Frames, CutAtEachLength) {
    std::vector<Frame> frames;
    for (std::size_t length = header; length <= packet().bytes.size(); length++) {
        frames.push_back(packet());
        frames.back().bytes.resize(length);
    }
    EXPECT_EQ(expectEachAsLinux(frames), 1U);
}

TEST_F(Routed6Frames, WhatLiesBehindThePacketIsCutOff) {
    std::vector<Frame> frames;
    for (const std::size_t payload : {0U, 1U, 6U, 26U, 600U})
        for (const std::size_t behind : {1U, 2U, 6U, 26U, 300U}) {
            frames.push_back(packet({.payload = payload}));
            frames.back().bytes.resize(frames.back().bytes.size() + behind, 0xee);
        }
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(Routed6Frames, EveryHopLimit) {
    std::vector<Frame> frames;
    for (unsigned hops = 0; hops < 256; hops++)
        frames.push_back(packet({.hops = static_cast<std::uint8_t>(hops)}));
    EXPECT_EQ(expectEachAsLinux(frames), 254U);
}

/// Routers read hop-by-hop options and nothing else; what else follows is the receiver's.
TEST_F(Routed6Frames, EveryNextHeader) {
    std::vector<Frame> frames;
    for (unsigned next = 0; next < 256; next++)
        frames.push_back(packet({.next = static_cast<std::uint8_t>(next)}));
    EXPECT_EQ(expectEachAsLinux(frames), 255U);
}

TEST_F(Routed6Frames, HopByHopOptions) {
    auto jumbogram = followedBy({59, 0, 0xc2, 4, 0, 1, 0, 1}, 0);
    jumbogram.bytes[header + 4] = jumbogram.bytes[header + 5] = 0;
    auto shortJumbogram = jumbogram;
    shortJumbogram.bytes[header + headerLength + 5] = 0;
    EXPECT_EQ(expectEachAsLinux({followedBy({59, 0, 1, 4, 0, 0, 0, 0}, 0),    // padding
                                 followedBy({59, 0, 5, 2, 0, 0, 1, 0}, 0),    // router alert
                                 followedBy({59, 0, 0xc5, 4, 0, 0, 0, 0}, 0), // not known: told
                                 followedBy({59, 0, 0x45, 4, 0, 0, 0, 0}, 0), // not known: dropped
                                 followedBy({59, 0, 0x05, 4, 0, 0, 0, 0}, 0), jumbogram, shortJumbogram}),
              0U);
}

TEST_F(Routed6Frames, FragmentsAndExtensionsForTheReceiver) {
    std::vector<Frame> frames;
    for (const auto offset : std::vector<std::uint8_t>{0, 1, 8, 0xf8, 0xff}) {
        frames.push_back(followedBy({17, 0, 0, offset, 1, 2, 3, 4}, 44));
        frames.push_back(followedBy({17, 0, offset, 1, 1, 2, 3, 4}, 44));
    }
    for (const auto routing : std::vector<std::uint8_t>{0, 2, 3, 4})
        frames.push_back(followedBy({59, 0, routing, 1, 0, 0, 0, 0}, 43));
    frames.push_back(followedBy({59, 0, 0xc5, 4, 0, 0, 0, 0}, 60)); // destination options
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(Routed6Frames, EveryTrafficClassAndFlowLabel) {
    std::vector<Frame> frames;
    for (unsigned bit = 0; bit < 28; bit++)
        frames.push_back(packet({.flow = 1U << bit}));
    frames.push_back(packet({.flow = 0xfffffff}));
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(Routed6Frames, AddressesOfAllKinds) {
    const std::vector<std::string> addresses = {
        "::",
        "::100:0:0:1", // to the cache like the next one
        "::1",
        "::2",
        "::10.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2001:db8::1",
        "fc00::1",
        "fd00:0:0:0::",
        "fd00:0:0:0::1",
        "fd00:0:0:0::2",
        "fd00:0:0:0::3",
        "fd00:0:0:1::",
        "fd00:0:0:1::1",
        "fd00:0:0:1::2",
        "fe00::1",
        "fe80::",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff00::1",
        "ff01::1",
        "ff02::1",
        "ff02::2",
        "ff0e::1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    };
    must("ip -6 route add default via fd00:0:0:1::2");
    std::vector<Frame> frames;
    for (const auto& from : addresses)
        for (const auto& to : addresses)
            frames.push_back(packet({.from = from, .to = to}));
    EXPECT_GT(expectEachAsLinux(frames), 100U);
}

TEST_F(Routed6Frames, OtherMacAddresses) {
    std::vector<Frame> frames;
    for (const Mac& mac :
         {Mac{}, Mac{255, 255, 255, 255, 255, 255}, Mac{0x33, 0x33, 0, 0, 0, 1}, station(9), portMac(1)}) {
        frames.push_back(ipv6Frame(mac, station(1)));
        frames.push_back(ipv6Frame(portMac(0), mac));
    }
    EXPECT_EQ(expectEachAsLinux(frames), 5U) << "Linux does not look at the source's MAC address";
}

TEST_F(Routed6Frames, OfAllSizes) {
    std::vector<Frame> frames;
    for (const std::size_t payload : {0U, 1U, 5U, 6U, 7U, 1000U, 1240U, 1459U, 1460U})
        frames.push_back(packet({.payload = payload}));
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(Routed6Frames, SmallThenLargeThenSmall) {
    must("ip link set p1 mtu 1300");
    std::vector<Frame> frames;
    for (const std::size_t payload : {26U, 1261U, 1260U, 1400U, 26U})
        frames.push_back(packet({.payload = payload}));
    EXPECT_EQ(expectEachAsLinux(frames), 3U);
}

} // namespace
} // namespace tna::test
