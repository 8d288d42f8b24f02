// SPDX-License-Identifier: Apache-2.0
// Packets as nobody should send them: Linux with and without tna does the same with each.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

constexpr std::size_t header = 14;
constexpr std::size_t headerLength = 20;

class RoutedFrames : public RouteTest {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        // Redirects are sent less and less often. Questions for neighbours would come once in a second.
        sysctl("net.ipv4.conf.all.send_redirects", "0");
        sysctl("net.ipv4.conf.p0.send_redirects", "0");
        for (const char* port : {"p0", "p1", "p2"})
            sysctl(std::string("net.ipv4.neigh.") + port + ".mcast_solicit", "0");
        must("ip neigh replace 10.0.0.0 lladdr 02:00:00:00:00:07 dev p0 nud permanent");
        must("ip neigh replace 10.0.0.3 lladdr 02:00:00:00:00:07 dev p0 nud permanent");
        must("ip neigh replace 10.0.1.0 lladdr 02:00:00:00:00:07 dev p1 nud permanent");
    }
};

TEST_F(RoutedFrames, EachByteOfTheHeaderWithOtherValues) {
    // Linux tells one sender only now and then that there is no route.
    must("ip route add default via 10.0.2.2");
    std::vector<Frame> frames{packet()}; // whose way is known when the others come
    for (std::size_t at = header; at < header + headerLength; at++)
        for (const unsigned value : {0U, 1U, 2U, 4U, 0x10U, 0x44U, 0x46U, 0x7fU, 0x80U, 0xe0U, 0xffU})
            for (const bool finished : {true, false}) {
                auto frame = packet();
                frame.bytes[at] = static_cast<std::uint8_t>(value);
                if (finished && at != header + 10 && at != header + 11)
                    finishIpv4(frame);
                frames.push_back(std::move(frame));
            }
    EXPECT_GT(expectEachAsLinux(frames), 40U);
}

TEST_F(RoutedFrames, CutAtEachLength) {
    std::vector<Frame> frames;
    for (std::size_t length = header; length < packet().bytes.size(); length++) {
        frames.push_back(packet()); // so that the cache knows the way of the one that is cut
        frames.push_back(packet());
        frames.back().bytes.resize(length);
    }
    EXPECT_EQ(expectEachAsLinux(frames), frames.size() / 2);
}

TEST_F(RoutedFrames, WhatLiesBehindThePacketIsCutOff) {
    std::vector<Frame> frames;
    for (const std::size_t payload : {0U, 1U, 5U, 6U, 26U, 600U})
        for (const std::size_t behind : {1U, 2U, 6U, 26U, 46U, 300U}) {
            frames.push_back(packet({.payload = payload}));
            frames.back().bytes.resize(frames.back().bytes.size() + behind, 0xee);
        }
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(RoutedFrames, EveryTimeToLive) {
    std::vector<Frame> frames;
    for (unsigned ttl = 256; ttl-- > 0;) // those that end come when the route is in the cache
        frames.push_back(packet({.ttl = static_cast<std::uint8_t>(ttl)}));
    EXPECT_EQ(expectEachAsLinux(frames), 254U);
}

/// The sum of all checksums' carries: each identification gives another one.
TEST_F(RoutedFrames, ChecksumsOfAllKinds) {
    std::vector<Frame> frames;
    for (unsigned i = 0; i < 64; i++) {
        auto frame = packet();
        finishIpv4(frame);
        const unsigned sum = frame.bytes[24] << 8U | frame.bytes[25];
        // An identification with which the checksum comes out near 0xfeff, 0xff00, or 0xffff.
        const unsigned wanted = (i < 32 ? 0xfeff : 0xfff0) + i % 32 - (i < 32 ? 16 : 0);
        unsigned id = 1 + sum + (0xffff - (wanted & 0xffffU));
        id = (id & 0xffffU) + (id >> 16U);
        frames.push_back(packet({.id = static_cast<std::uint16_t>(id)}));
    }
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(RoutedFrames, Fragments) {
    std::vector<Frame> frames;
    for (const unsigned fragment : {0x2000U, 0x2001U, 0x00b9U, 0x4000U, 0x8000U, 0x1fffU, 0x6000U})
        frames.push_back(packet({.fragment = static_cast<std::uint16_t>(fragment)}));
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(RoutedFrames, AddressesOfAllKinds) {
    const std::vector<std::string> addresses = {
        "0.0.0.0",    "0.0.0.1",         "10.0.0.0",       "10.0.0.1",  "10.0.0.2",   "10.0.0.3",
        "10.0.0.255", "10.0.1.0",        "10.0.1.1",       "10.0.1.2",  "10.0.1.255", "10.0.2.2",
        "127.0.0.1",  "127.255.0.1",     "169.254.1.1",    "192.0.2.1", "224.0.0.1",  "239.255.255.255",
        "240.0.0.1",  "255.255.255.254", "255.255.255.255"};
    must("ip route add default via 10.0.1.2");
    std::vector<Frame> frames;
    for (const auto& from : addresses)
        for (const auto& to : addresses)
            frames.push_back(packet({.from = from, .to = to}));
    EXPECT_GT(expectEachAsLinux(frames), 20U);
}

TEST_F(RoutedFrames, OtherMacAddresses) {
    std::vector<Frame> frames;
    for (const Mac& mac :
         {Mac{}, Mac{255, 255, 255, 255, 255, 255}, Mac{1, 0, 0x5e, 0, 0, 1}, station(9), portMac(1)}) {
        frames.push_back(ipv4Frame(mac, station(1)));
        frames.push_back(ipv4Frame(portMac(0), mac));
    }
    EXPECT_EQ(expectEachAsLinux(frames), 5U) << "Linux does not look at the source's MAC address";
}

TEST_F(RoutedFrames, OfAllSizes) {
    std::vector<Frame> frames;
    for (const std::size_t payload : {0U, 1U, 25U, 26U, 27U, 1000U, 1479U, 1480U})
        frames.push_back(packet({.payload = payload}));
    EXPECT_EQ(expectEachAsLinux(frames), frames.size());
}

TEST_F(RoutedFrames, SmallThenLargeThenSmall) {
    must("ip link set p1 mtu 1000");
    std::vector<Frame> frames;
    for (const std::size_t payload : {26U, 981U, 980U, 1400U, 26U})
        frames.push_back(packet({.payload = payload}));
    EXPECT_EQ(expectEachAsLinux(frames), 3U);
}

TEST_F(RoutedFrames, OtherProtocols) {
    std::vector<Frame> frames;
    for (const int type : {0x0806, 0x8100, 0x88a8, 0x88b5, 0x0026})
        frames.push_back(FrameBuilder()
                             .ethernet(portMac(0), station(1))
                             .etherType(static_cast<std::uint16_t>(type))
                             .raw(46));
    EXPECT_EQ(expectEachAsLinux(frames), 0U);
}

} // namespace
} // namespace tna::test
