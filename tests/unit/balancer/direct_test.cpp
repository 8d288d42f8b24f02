// SPDX-License-Identifier: Apache-2.0
// Direct return: what clients send goes to a backend's MAC address, and is changed nowhere else.
#include "frames.hpp"

namespace tna::balancer::test {
namespace {

const Flow client{"198.51.100.2", "192.0.2.80", 4000, 80};
const Bytes server{2, 0, 0, 0, 1, 0x11};

class Direct : public ::testing::Test {
protected:
    /// The frame with another destination, to which it goes; all other bytes are as they were.
    void expectSent(const Bytes& packet, std::uint32_t now = 0) {
        auto frame = frameOf(packet);
        auto expected = frame;
        std::ranges::copy(server, expected.begin());
        EXPECT_STREQ(nameOf(balancer_.treat(frame, now)), "sent");
        EXPECT_EQ(hex(frame), hex(expected));
        EXPECT_EQ(balancer_.receiver().device, "eth1");
    }
    void expectLeft(const Bytes& packet, Outcome outcome, std::uint32_t now = 0) {
        auto frame = frameOf(packet);
        const auto before = frame;
        EXPECT_STREQ(nameOf(balancer_.treat(frame, now)), nameOf(outcome));
        EXPECT_EQ(hex(frame), hex(before));
    }

    Balancer balancer_{configured(R"(
[[service]]
address = "192.0.2.80"
port = 80
mode = "direct"
[[service.backend]]
address = "10.0.1.11"
mac = "02:00:00:00:01:11"
device = "eth1"
)"),
                       1};
};

TEST_F(Direct, SegmentsGoToTheMacAddressOfABackend) {
    expectSent(tcpPacket(client, syn));
    expectSent(tcpPacket(client, ack, Bytes(300, 7)));
    expectSent(tcpPacket(client, fin));
    const auto& backend = balancer_.services()[0].backends[0];
    EXPECT_EQ(backend.chosen, 1U);
    EXPECT_EQ(backend.packets, 3U);
}

TEST_F(Direct, ErrorsAboutWhatABackendHasSentGoThere) {
    expectSent(tcpPacket(client, syn));
    expectSent(errorPacket({"203.0.113.9", "192.0.2.80", 0, 0}, 3, 4,
                           tcpPacket({"192.0.2.80", "198.51.100.2", 80, 4000}, ack, Bytes(40, 1))));
}

TEST_F(Direct, WhatBackendsSendIsNoServices) {
    expectSent(tcpPacket(client, syn));
    for (const auto* from : {"192.0.2.80", "10.0.1.11"})
        expectLeft(tcpPacket({from, "198.51.100.2", 80, 4000}, ack), Outcome::noService);
}

TEST_F(Direct, WithoutABackendTheyAreDropped) {
    balancer_.setUp(0, 0, false);
    expectLeft(tcpPacket(client, syn), Outcome::noBackend);
}

} // namespace
} // namespace tna::balancer::test
