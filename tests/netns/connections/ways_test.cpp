// SPDX-License-Identifier: Apache-2.0
// The same flows over IPv4 and IPv6, between ports, bridges and VLAN devices: whichever way packets go, what
// Linux has let pass is fast.
#include "ways_fixture.hpp"

namespace tna::test {
namespace {

TYPED_TEST_SUITE(Ways, Routers);

template <typename Router>
class WaysFromBridges : public Ways<Router> {};
using BridgedRouters = ::testing::Types<FromBridge, FromBridge6>;
TYPED_TEST_SUITE(WaysFromBridges, BridgedRouters);

/// Rules that ask for what is the same in all packets that are fast: the version, no options, no headers.
template <typename Router>
class WaysPastHeaders : public Ways<Router> {
    std::string rules() override {
        return "table inet guard { chain early { type filter hook prerouting priority -450;"
               " exthdr frag exists meta mark set 1; }; chain forward { type filter hook forward priority 0;"
               " policy drop; ip version 4 ip hdrlength 5 accept; ip6 version 6 exthdr rt missing accept; }; "
               "chain tracked { type filter hook forward priority 1; ct state established accept; }; }";
    }
};
TYPED_TEST_SUITE(WaysPastHeaders, BridgedRouters);

TYPED_TEST(WaysPastHeaders, AreFast) {
    for (const unsigned in : {0U, 1U}) {
        SCOPED_TRACE(in);
        const auto frame = in == 0 ? this->forth() : this->back();
        this->expect(slowPath("flow-unknown"), frame, in);
        for (int i = 0; i < 2; i++)
            this->expect(fastPath(), frame, in);
    }
}

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
    if (this->treated(this->forth(), 0).path == slowPath("capture"))
        GTEST_SKIP() << "in this kernel, whoever captures somewhere may capture anywhere";
    this->expect(fastPath(), this->forth());
    EXPECT_EQ(this->treated(withPorts(this->forth(), 4000, 5001), 0),
              (Treatment{slowPath("flow-unknown"), {}}));
    must("nft insert rule inet guard forward udp dport 5000 drop");
    EXPECT_EQ(this->treated(this->forth(), 0), (Treatment{slowPath("ip-netfilter"), {}}));
}

/// Where a bridge calls the rules, they know by which of its ports a packet came: what they have said of one
/// that came by another port, or of one for which none were called there, is no lesson.
TYPED_TEST(WaysFromBridges, AreLinuxsWhenRulesKnowThemByAnotherPort) {
    const std::string calls =
        std::string("net.bridge.bridge-nf-call-") + (this->six ? "ip6tables" : "iptables");
    if (command({"sysctl", "-n", calls}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no br_netfilter";
    const auto isSeenAnew = [&](const std::string& set, const std::string& value, unsigned in) {
        if (!set.empty())
            sysctl(set.c_str(), value);
        else
            this->learnt(1, value);
        const Treatment arrives{slowPath("flow-changed"), this->routedTo(this->forth())};
        EXPECT_EQ(this->treated(this->forth(), in), arrives);
        EXPECT_EQ(this->treated(this->forth(), in), (Treatment{fastPath(), arrives.out}));
    };
    this->learnt(1, "p0");
    this->treated(this->forth(), 0);
    this->expect(fastPath(), this->forth());
    isSeenAnew(calls, "1", 0);
    isSeenAnew("", "p2", 2);
    isSeenAnew("", "p0", 0);
    isSeenAnew(calls, "0", 0);
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
