// SPDX-License-Identifier: Apache-2.0
// What the tests of the balancer share: services, frames, and what is expected of both.
#pragma once

#include "balancer.hpp"
#include "support/packets.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace tna::balancer::test {

using packets::Bytes;
using packets::errorPacket;
using packets::Flow;
using packets::hex;
using packets::tcpPacket;
using packets::udpPacket;

constexpr std::uint8_t ack = ackFlag, syn = synFlag, synAck = synFlag | ackFlag, fin = finFlag | ackFlag,
                       rst = rstFlag;

inline Bytes frameOf(const Bytes& packet) {
    const bool six = packet[0] >> 4U == 6;
    Bytes frame{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
    frame.insert(frame.end(),
                 {static_cast<std::uint8_t>(six ? 0x86 : 0x08), static_cast<std::uint8_t>(six ? 0xdd : 0)});
    frame.insert(frame.end(), packet.begin(), packet.end());
    return frame;
}

inline Configuration configured(const std::string& text) {
    auto configuration = parseConfiguration(text, "test.toml");
    EXPECT_TRUE(configuration) << configuration.error().sentence();
    return configuration.value_or(Configuration{});
}

inline Address ip(const std::string& text) {
    return parseAddress(text).value();
}

/// The first service has its backends for itself.
inline const std::string services = R"(
sessions = 1000
[[service]]
name = "web"
address = "192.0.2.80"
port = 80
[[service.backend]]
address = "10.0.1.11"
port = 8080
[[service.backend]]
address = "10.0.1.12"
port = 8080
[[service]]
name = "web6"
address = "2001:db8:2::80"
port = 80
[[service.backend]]
address = "2001:db8:1::11"
port = 8080
[[service]]
name = "dns"
protocol = "udp"
address = "192.0.2.80"
port = 53
[[service.backend]]
address = "10.0.1.11"
port = 5353
)";

inline const char* nameOf(Outcome outcome) {
    return outcomeWords[static_cast<std::size_t>(outcome)].name;
}

/// Whole packets, before and behind.
class Frames : public ::testing::Test {
protected:
    void expectBecomes(const Bytes& before, const Bytes& after, Outcome outcome, std::uint32_t now = late) {
        auto frame = frameOf(before);
        EXPECT_STREQ(nameOf(balancer_->treat(frame, now)), nameOf(outcome));
        EXPECT_EQ(hex(frame), hex(frameOf(after)));
    }
    void expectLeft(const Bytes& packet, Outcome outcome, std::uint32_t now = late) {
        expectBecomes(packet, packet, outcome, now);
    }
    /// To which backend's address a packet of a client goes; "" if to none.
    std::string to(const Bytes& packet, std::uint32_t now = late) {
        auto frame = frameOf(packet);
        if (balancer_->treat(frame, now) != Outcome::forwarded)
            return "";
        const auto result = parse(frame);
        return text(result.outer.to.address);
    }

    /// When sessions are not adopted any more.
    static constexpr std::uint32_t late = 1000;
    std::unique_ptr<Balancer> balancer_ = std::make_unique<Balancer>(configured(services), 1);
};

} // namespace tna::balancer::test
