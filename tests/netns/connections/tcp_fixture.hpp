// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connections_fixture.hpp"

#include "support/ipv6.hpp"

#include <algorithm>
#include <array>
#include <linux/if_ether.h>
#include <optional>

namespace tna::test {

inline constexpr std::uint8_t fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32, ece = 64;

/// A host with a connection: where it is in its own numbers.
struct Host {
    std::uint32_t sent = 0; ///< the next one
    std::uint16_t window = 1000;
};

struct Segment {
    std::uint8_t flags = ack;
    std::size_t payload = 0;
    std::int64_t ahead = 0;    ///< of the next number
    std::int64_t ackAhead = 0; ///< of what the other one has sent
    std::optional<std::uint16_t> window{};
    std::vector<std::uint8_t> options{}; ///< a multiple of 4 bytes
    bool damaged = false;
};

inline const std::vector<std::uint8_t> handshakeOptions{2, 4, 5, 180, 4, 2,
                                                        1, 3, 3, 7,   0, 0}; // SACK, scale 7

/// A router whose rules drop what is invalid, and two hosts that talk through it.
class Tcp : public ConnectionsTest {
protected:
    static constexpr const char* strict =
        "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
        " ct state invalid drop; ct state established accept; tcp dport 5000 ct state new accept; }; }";

    void SetUp() override {
        ConnectionsTest::SetUp();
        connection_.protocol = IPPROTO_TCP;
        if (IsSkipped())
            return;
        // None need be seen by Linux while a test runs.
        config_.kernel.refresh = 1U << 30U;
        sysctl("net.netfilter.nf_conntrack_tcp_timeout_unacknowledged", "1000000");
    }
    void open(const std::string& rules = strict) {
        nft(rules);
        accelerate();
        if (IsSkipped())
            return;
        rulesAreKnown();
        shakeHands();
    }
    void shakeHands() {
        hosts_ = {Host{1000}, Host{900000}};
        pass(0, {.flags = syn, .options = handshakeOptions});
        pass(1, {.flags = syn | ack, .options = handshakeOptions});
        pass(0, {});
        pass(0, {.flags = psh | ack, .payload = 100});
        pass(1, {});
    }
    /// A host's frame goes to its router; and what comes out there for the other one.
    [[nodiscard]] virtual Mac nextStation(unsigned host) const { return portMac(host); }
    [[nodiscard]] virtual Arrivals comesOut(const Frame& made, unsigned port) const {
        return routedTo(made, port);
    }
    /// The segment as a frame; the host has not sent it yet.
    [[nodiscard]] Frame frame(unsigned host, const Segment& segment) const {
        const auto& from = hosts_.at(host);
        const auto& to = hosts_.at(1 - host);
        const std::size_t header = 20 + segment.options.size();
        const auto [source, sourcePort, destination, destinationPort, protocol] = ends(host);
        auto made = ipv4Frame(
            nextStation(host), station(host + 1),
            {.from = source, .to = destination, .protocol = protocol, .payload = header + segment.payload});
        put(made, 34, sourcePort, 2);
        put(made, 36, destinationPort, 2);
        put(made, 38, static_cast<std::uint32_t>(from.sent + segment.ahead), 4);
        put(made, 42, (segment.flags & ack) != 0 ? static_cast<std::uint32_t>(to.sent + segment.ackAhead) : 0,
            4);
        made.bytes.at(46) = static_cast<std::uint8_t>(header / 4 << 4);
        made.bytes.at(47) = segment.flags;
        put(made, 48, segment.window.value_or(from.window), 2);
        put(made, 50, 0, 4);
        std::ranges::copy(segment.options, made.bytes.begin() + 54);
        sum(made, header + segment.payload);
        if (segment.damaged)
            made.bytes.at(53) ^= 1U;
        return made;
    }
    /// From whom to whom a host's segments are, when they come in.
    [[nodiscard]] virtual Connection ends(unsigned host) const {
        Connection ends{.protocol = IPPROTO_TCP};
        if (host == 1) {
            std::swap(ends.from, ends.to);
            std::swap(ends.fromPort, ends.toPort);
        }
        return ends;
    }
    /// The same segment as it leaves.
    [[nodiscard]] virtual Frame leaving(const Frame& made, unsigned /*host*/) const { return made; }
    /// It comes out, as it would of Linux; and the host has sent it.
    Path pass(unsigned host, const Segment& segment) {
        const auto made = frame(host, segment);
        const auto got = treat(made, host);
        EXPECT_EQ(got, (Treatment{got.path, comesOut(leaving(made, host), 1 - host)}));
        hosts_.at(host).sent +=
            static_cast<std::uint32_t>(segment.payload + ((segment.flags & (syn | fin)) != 0 ? 1 : 0));
        return got.path;
    }
    /// Far more than a window, each segment acknowledged.
    void sendMuch() {
        for (int i = 0; i < 300; i++) {
            pass(0, {.payload = 1000});
            pass(1, {});
        }
    }
    /// A segment and its acknowledgement, from either side, until all four are fast.
    void becomesFast() {
        ASSERT_TRUE(eventually([&] {
            pump();
            bool fast = true;
            for (const unsigned host : {0U, 1U}) {
                fast &= pass(host, {.flags = psh | ack, .payload = 50}) == fastPath();
                fast &= pass(1 - host, {}) == fastPath();
            }
            return fast || HasFailure();
        }));
    }
    void expectSlow(unsigned host, const Segment& segment, const char* reason, bool passes = true) {
        const auto made = frame(host, segment);
        EXPECT_EQ(treat(made, host),
                  (Treatment{slowPath(reason), passes ? comesOut(made, 1 - host) : Arrivals{}}))
            << reason;
    }
    static void put(Frame& made, std::size_t at, std::uint32_t value, unsigned size) {
        for (unsigned i = 0; i < size; i++)
            made.bytes.at(at + i) = static_cast<std::uint8_t>(value >> 8U * (size - 1 - i));
    }
    static void sum(Frame& made, std::size_t length) {
        std::vector<std::uint8_t> summed(made.bytes.begin() + 26, made.bytes.begin() + 34);
        summed.insert(summed.end(), {0, IPPROTO_TCP, static_cast<std::uint8_t>(length >> 8U),
                                     static_cast<std::uint8_t>(length)});
        summed.insert(summed.end(), made.bytes.begin() + 34,
                      made.bytes.begin() + 34 + static_cast<std::ptrdiff_t>(length));
        put(made, 50, internetChecksum(summed.data(), summed.size()), 2);
    }
    std::uint32_t timeout() { return timeoutOf(connection_).value_or(0); }
    /// Until the entry has so much time left.
    void expectTimeout(std::uint32_t least, std::uint32_t most) {
        std::uint32_t left = 0;
        EXPECT_TRUE(eventually([&] {
            left = timeout();
            return left >= least && left <= most;
        })) << left;
    }

    std::array<Host, 2> hosts_{};
};

} // namespace tna::test
