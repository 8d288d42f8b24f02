// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridged_route_fixture.hpp"
#include "support/conntrack.hpp"
#include "vlan_route_fixture.hpp"

#include <filesystem>
#include <netinet/in.h>

namespace tna::test {

inline void put(Frame& frame, std::size_t at, std::size_t value) {
    frame.bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
    frame.bytes.at(at + 1) = static_cast<std::uint8_t>(value);
}

/// Turns what a frame without tags carries into UDP between these ports, its checksum right.
inline Frame withPorts(Frame frame, std::uint16_t from, std::uint16_t to) {
    const bool six = isIpv6(frame);
    const std::size_t udp = six ? 54 : 34, length = frame.bytes.size() - udp;
    put(frame, udp, from);
    put(frame, udp + 2, to);
    put(frame, udp + 4, length);
    put(frame, udp + 6, 0);
    std::vector<std::uint8_t> summed(frame.bytes.begin() + (six ? 22 : 26), frame.bytes.end());
    for (const std::size_t word : {std::size_t{IPPROTO_UDP}, length})
        summed.insert(summed.begin(),
                      {static_cast<std::uint8_t>(word >> 8U), static_cast<std::uint8_t>(word)});
    const auto sum = internetChecksum(summed.data(), summed.size());
    put(frame, udp + 6, sum == 0 ? 0xffff : sum);
    return frame;
}

/// Between two devices of whatever kind, rules that let pass what belongs to a connection, and a connection
/// of UDP that Linux knows.
template <typename Router>
class Ways : public Router {
protected:
    static constexpr bool six = std::is_base_of_v<Route6Test, Router>;

    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        must("nft " + rules());
        if (!std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
            GTEST_SKIP() << "needs connection tracking";
        sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "1000000");
        this->config_.limits.connections = 1024;
        Connection connection;
        if (six)
            connection = {.from = "fd00::2", .to = "fd00:0:0:1::2"};
        translate(connection);
        if (const int error = addConnection(connection, words()); error != 0)
            GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
        // Each end has been heard of.
        this->treat(this->tag(back(), 1), 1);
        beforehand();
        this->accelerate();
        if (this->IsSkipped())
            return;
        this->rulesAreKnown();
    }
    virtual std::string rules() {
        return "table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
               " ct state established,related accept; }; }";
    }
    virtual EntryWords words() { return {}; }
    virtual void translate(Connection& /*connection*/) {}
    /// While all is Linux's.
    virtual void beforehand() {}

    static Frame forth(std::size_t payload = 26) {
        if constexpr (six)
            return withPorts(Router::packet({.next = IPPROTO_UDP, .payload = payload}), 4000, 5000);
        else
            return withPorts(Router::packet({.payload = payload}), 4000, 5000);
    }
    static Frame back() {
        const auto from = RouteTest::portMac(1), to = station(2);
        if constexpr (six)
            return withPorts(
                ipv6Frame(from, to, {.from = "fd00:0:0:1::2", .to = "fd00::2", .next = IPPROTO_UDP}), 5000,
                4000);
        else
            return withPorts(ipv4Frame(from, to, {.from = "10.0.1.2", .to = "10.0.0.2"}), 5000, 4000);
    }
    /// As a frame is on the wire at a port.
    static Frame tag(const Frame& frame, unsigned port) {
        if constexpr (requires { Router::tags; })
            return Router::tags.at(port) == 0 ? frame : tagged(frame, Router::tags.at(port));
        else
            return frame;
    }
    Treatment treated(const Frame& frame, unsigned in) { return this->treat(tag(frame, in), in); }
    Treatment expected(const Path& path, const Frame& frame, unsigned in) {
        const auto out = tag(this->routed(frame, 1 - in), 1 - in);
        return {path, {{1 - in, {out}}}};
    }
    void expect(const Path& path, const Frame& frame, unsigned in = 0) {
        EXPECT_EQ(treated(frame, in), expected(path, frame, in));
    }
    /// Where connection tracking does not see packets: each way by itself, whatever their checksums.
    void expectFastFromTheThirdPacketOn() {
        for (const unsigned in : {0U, 1U}) {
            SCOPED_TRACE(in);
            const auto frame = in == 0 ? forth() : back();
            for (int i = 0; i < 2; i++)
                expect(slowPath("flow-unknown"), frame, in);
            for (int i = 0; i < 3; i++)
                expect(fastPath(), frame, in);
        }
        auto damaged = forth(1400);
        damaged.bytes.back() ^= 1U;
        expect(fastPath(), damaged);
    }
    void expectTaken(const Path& path) { EXPECT_EQ(treated(forth(), 0).path, path); }
};

/// VLAN devices in the places of p0 and p1.
template <typename Router>
class BetweenVlansOf : public Vlans<Router> {
protected:
    static constexpr std::array tags{100U, 200U};

    void SetUp() override {
        Vlans<Router>::SetUp();
        if (this->IsSkipped())
            return;
        this->vlan(0, "p0", "id 100");
        this->vlan(1, "p1", "id 200");
        this->atLast(tagged(Router::packet(), 100), {{1, {tagged(Router::routed(Router::packet()), 200)}}});
    }
};

/// Between ports, from, to and between bridges, between VLAN devices.
using Routers =
    ::testing::Types<RouteTest, Route6Test, FromBridge, FromBridge6, ToBridge, ToBridge6, FromBridgeToBridge,
                     FromBridgeToBridge6, BetweenVlansOf<RouteTest>, BetweenVlansOf<Route6Test>>;

} // namespace tna::test
