// SPDX-License-Identifier: Apache-2.0
// The same flows over IPv4 and IPv6, between ports, bridges and VLAN devices: whichever way packets go, what
// Linux has let pass is fast.
#include "bridged_route_fixture.hpp"
#include "support/conntrack.hpp"
#include "vlan_route_fixture.hpp"

#include <filesystem>

namespace tna::test {
namespace {

void put(Frame& frame, std::size_t at, std::size_t value) {
    frame.bytes.at(at) = static_cast<std::uint8_t>(value >> 8U);
    frame.bytes.at(at + 1) = static_cast<std::uint8_t>(value);
}

/// Turns what a frame without tags carries into UDP between these ports, its checksum right.
Frame withPorts(Frame frame, std::uint16_t from, std::uint16_t to) {
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

template <typename Router>
class Ways : public Router {
protected:
    static constexpr bool six = std::is_base_of_v<Route6Test, Router>;

    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        must("nft table inet guard { chain forward { type filter hook forward priority 0; policy drop;"
             " ct state established,related accept; }; }");
        if (!std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream"))
            GTEST_SKIP() << "needs connection tracking";
        sysctl("net.netfilter.nf_conntrack_udp_timeout_stream", "1000000");
        this->config_.limits.connections = 1024;
        Connection connection;
        if (six)
            connection = {.from = "fd00::2", .to = "fd00:0:0:1::2"};
        if (const int error = addConnection(connection); error != 0)
            GTEST_SKIP() << "connections cannot be made by hand: " << std::strerror(error);
        // Each end has been heard of.
        this->treat(this->tag(back(), 1), 1);
        this->accelerate();
        if (this->IsSkipped())
            return;
        ASSERT_TRUE(eventually([&] {
            this->pump();
            const auto known = this->controller_->rules();
            return known["learning"]["active"] == true &&
                   known["learning"]["generation"] == known["generation"];
        }));
    }
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

using Routers =
    ::testing::Types<RouteTest, Route6Test, FromBridge, FromBridge6, ToBridge, ToBridge6, FromBridgeToBridge,
                     FromBridgeToBridge6, BetweenVlansOf<RouteTest>, BetweenVlansOf<Route6Test>>;
TYPED_TEST_SUITE(Ways, Routers);

template <typename Router>
class WaysFromBridges : public Ways<Router> {};
using BridgedRouters = ::testing::Types<FromBridge, FromBridge6>;
TYPED_TEST_SUITE(WaysFromBridges, BridgedRouters);

TYPED_TEST(Ways, AreFastFromTheSecondPacketOn) {
    for (const unsigned in : {0U, 1U}) {
        SCOPED_TRACE(in);
        const auto frame = in == 0 ? this->forth() : this->back();
        this->expect(slowPath("flow-unknown"), frame, in);
        for (int i = 0; i < 3; i++)
            this->expect(fastPath(), frame, in);
    }
    this->expect(fastPath(), this->forth(1400));
}

TYPED_TEST(Ways, AreLinuxsWhenARuleForbidsThem) {
    this->treated(this->forth(), 0);
    this->expect(fastPath(), this->forth());
    must("nft insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(this->forth(), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

TYPED_TEST(Ways, HaveTheirChecksumsVerified) {
    this->treated(this->forth(1400), 0);
    for (const std::size_t payload : {10U, 111U, 1400U}) {
        auto frame = this->forth(payload);
        this->expect(fastPath(), frame);
        frame.bytes.back() ^= 1U;
        EXPECT_EQ(this->treated(frame, 0), (Treatment{slowPath("flow-checksum"), {}}));
    }
}

/// Rules see the devices as which Linux receives and sends packets, and not the ports below.
TYPED_TEST(Ways, AreLinuxsWhenTheirDevicesAreOthersToTheRules) {
    const auto name = [](unsigned number) {
        for (const char* kind : {"v", "br", "p"})
            if (const auto device = kind + std::to_string(number);
                std::filesystem::exists("/proc/sys/net/ipv4/conf/" + device))
                return device;
        return std::string{};
    };
    this->treated(this->forth(), 0);
    for (const unsigned number : {0U, 1U}) {
        this->expect(fastPath(), this->forth());
        must("ip link set " + name(number) + " group 5");
        this->expectTaken(slowPath("flow-changed"));
        this->expect(fastPath(), this->forth());
    }
}

/// A capture elsewhere is harmless, and makes each packet deserve a closer look.
TYPED_TEST(Ways, AreLinuxsWhenARuleForbidsThemBesideCaptures) {
    this->treated(this->forth(), 0);
    const auto socket = this->capture("lo", 0x0003);
    this->expect(fastPath(), this->forth());
    EXPECT_EQ(this->treated(withPorts(this->forth(), 4000, 5001), 0),
              (Treatment{slowPath("flow-unknown"), {}}));
    must("nft insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(this->forth(), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

/// Where a bridge calls the rules, they know by which of its ports a packet came: what they say then is no
/// lesson for when it does not.
TYPED_TEST(WaysFromBridges, AreNotLearntWhileBridgesCallTheRules) {
    const std::string calls =
        std::string("net.bridge.bridge-nf-call-") + (this->six ? "ip6tables" : "iptables");
    if (command({"sysctl", "-n", calls}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no br_netfilter";
    sysctl(calls.c_str(), "1");
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(this->treated(this->forth(), 0).path.fast, 0U);
    sysctl(calls.c_str(), "0");
    EXPECT_TRUE(eventually([&] { // the setting is read now and then
        this->pump();
        const auto path = this->treated(this->forth(), 0).path;
        EXPECT_EQ(path.fast, 0U);
        return path == slowPath("flow-unknown") || this->HasFailure();
    }));
    this->expect(fastPath(), this->forth());
}

TYPED_TEST(Ways, AreLinuxsWhenAPacketIsOfAnotherService) {
    this->treated(this->forth(), 0);
    auto frame = this->forth();
    if (isIpv6(frame)) {
        frame.bytes.at(17) = 7; // the flow label
    } else {
        frame.bytes.at(15) = 8;
        finishIpv4(frame);
    }
    this->expect(fastPath(), this->forth());
    this->expect(slowPath("flow-changed"), frame);
    this->expect(fastPath(), frame);
}

TYPED_TEST(Ways, OfOthersAreLinuxs) {
    this->treated(this->forth(), 0);
    this->expect(fastPath(), this->forth());
    for (const std::size_t at : {0U, 7U, 8U, 15U, 16U, 23U, 24U, 31U}) {
        auto frame = this->forth();
        if (!isIpv6(frame))
            break;
        frame.bytes.at(22 + at) ^= at % 16 == 0 ? 1U : 2U;
        const auto treated = this->treated(withPorts(frame, 4000, 5000), 0);
        EXPECT_EQ(treated.path.fast, 0U) << at;
        EXPECT_FALSE(treated.out.contains(1)) << at; // Linux may tell the sender
    }
    EXPECT_EQ(this->treated(withPorts(this->forth(), 4001, 5000), 0),
              (Treatment{slowPath("flow-unknown"), {}}));
    this->expect(fastPath(), this->forth());
}

} // namespace
} // namespace tna::test
