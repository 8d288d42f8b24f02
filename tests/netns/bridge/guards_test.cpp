// SPDX-License-Identifier: Apache-2.0
// Each condition that makes Linux do something else sends frames to Linux from the moment on that the
// call which set it has returned, without the controller (it is not run in between), and the fast path
// comes back when it is gone.
#include "bridge_fixture.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class Guarded : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
        if (!IsSkipped()) {
            ASSERT_EQ(send(oneToTwo()), fastPath());
        }
    }
    void expectBackToFast() { EXPECT_EQ(send(oneToTwo()), fastPath()); }
};

struct Condition {
    const char* name;
    std::vector<std::string> prepare;
    std::vector<std::string> set;
    std::string reason;
    std::vector<std::string> unset;
};
void PrintTo(const Condition& condition, std::ostream* out) {
    *out << condition.name;
}

class GuardedBy : public Guarded, public ::testing::WithParamInterface<Condition> {};

TEST_P(GuardedBy, SlowWhileItHoldsAndFastAgainAfterwards) {
    const auto& condition = GetParam();
    for (const auto& words : condition.prepare)
        if (const auto result = command({"sh", "-c", words}); result.exitCode != 0)
            GTEST_SKIP() << "this kernel or machine has not what it takes: " << words << ": "
                         << result.output;
    for (const auto& words : condition.set)
        ASSERT_EQ(command({"sh", "-c", words}).exitCode, 0) << words;
    EXPECT_EQ(send(oneToTwo()), slowPath(condition.reason));
    for (const auto& words : condition.unset)
        ASSERT_EQ(command({"sh", "-c", words}).exitCode, 0) << words;
    expectBackToFast();
}

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

INSTANTIATE_TEST_SUITE_P(
    Conditions, GuardedBy,
    ::testing::Values(
        Condition{"PromiscuousBridge",
                  {},
                  {"ip link set br0 promisc on"},
                  "bridge-promisc",
                  {"ip link set br0 promisc off"}},
        Condition{"TcIngressFilter",
                  {"tc qdisc add dev p0 clsact"},
                  {"tc filter add dev p0 ingress" + matchAll},
                  "tc",
                  {"tc filter del dev p0 ingress"}},
        Condition{"TcEgressFilter",
                  {"tc qdisc add dev p1 clsact"},
                  {"tc filter add dev p1 egress" + matchAll},
                  "tc",
                  {"tc filter del dev p1 egress"}},
        Condition{"NetdevIngressChain",
                  {"nft add table netdev t"},
                  {"nft add chain netdev t c '{ type filter hook ingress device p0 priority 0; }'"},
                  "netdev-hook",
                  {"nft delete chain netdev t c"}},
        Condition{"NetdevEgressChain",
                  {"nft add table netdev t"},
                  {"nft add chain netdev t c '{ type filter hook egress device p1 priority 0; }'"},
                  "netdev-hook",
                  {"nft delete chain netdev t c"}},
        Condition{"BridgePreroutingChain",
                  {"nft add table bridge t"},
                  {"nft add chain bridge t c '{ type filter hook prerouting priority 0; }'"},
                  "bridge-netfilter",
                  {"nft delete chain bridge t c"}},
        Condition{"BridgeForwardChain",
                  {"nft add table bridge t"},
                  {"nft add chain bridge t c '{ type filter hook forward priority 0; policy drop; }'"},
                  "bridge-netfilter",
                  {"nft delete chain bridge t c"}},
        Condition{"BridgePostroutingChain",
                  {"nft add table bridge t"},
                  {"nft add chain bridge t c '{ type filter hook postrouting priority 0; }'"},
                  "bridge-netfilter",
                  {"nft delete chain bridge t c"}},
        Condition{"BridgeNfCallIptables",
                  {"sysctl net.bridge.bridge-nf-call-iptables"},
                  {"sysctl -qw net.bridge.bridge-nf-call-iptables=1"},
                  "br-netfilter",
                  {"sysctl -qw net.bridge.bridge-nf-call-iptables=0"}},
        Condition{"BridgeNfCallIp6tables",
                  {"sysctl net.bridge.bridge-nf-call-ip6tables"},
                  {"sysctl -qw net.bridge.bridge-nf-call-ip6tables=1"},
                  "br-netfilter",
                  {"sysctl -qw net.bridge.bridge-nf-call-ip6tables=0"}},
        Condition{"BridgeOptionNfCallIptables",
                  {"sysctl net.bridge.bridge-nf-call-iptables"},
                  {"ip link set br0 type bridge nf_call_iptables 1"},
                  "bridge-options",
                  {"ip link set br0 type bridge nf_call_iptables 0"}},
        Condition{"ShapingQdisc",
                  {},
                  {"tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms"},
                  "egress-qdisc",
                  {"tc qdisc del dev p1 root"}},
        Condition{"ClassfulQdisc",
                  {},
                  {"tc qdisc add dev p1 root handle 1: htb default 1"},
                  "egress-qdisc",
                  {"tc qdisc del dev p1 root"}},
        Condition{"IngressPortListening",
                  {},
                  {"bridge link set dev p0 state 1"},
                  "stp-state",
                  {"bridge link set dev p0 state 3"}},
        Condition{"IngressPortLearningState",
                  {},
                  {"bridge link set dev p0 state 2"},
                  "stp-state",
                  {"bridge link set dev p0 state 3"}},
        Condition{"EgressPortListening",
                  {},
                  {"bridge link set dev p1 state 1"},
                  "egress-stp-state",
                  {"bridge link set dev p1 state 3"}},
        Condition{"IngressLearningOff",
                  {},
                  {"bridge link set dev p0 learning off"},
                  "port-flags",
                  {"bridge link set dev p0 learning on"}},
        Condition{"IngressLocked",
                  {},
                  {"bridge link set dev p0 locked on"},
                  "port-flags",
                  {"bridge link set dev p0 locked off"}},
        Condition{"EgressNeighbourSuppression",
                  {},
                  {"bridge link set dev p1 neigh_suppress on"},
                  "bridge-options",
                  {"bridge link set dev p1 neigh_suppress off"}},
        Condition{"EgressVlanTunnel",
                  {},
                  {"bridge link set dev p1 vlan_tunnel on"},
                  "egress-port-flags",
                  {"bridge link set dev p1 vlan_tunnel off"}},
        Condition{"BothIsolated",
                  {"bridge link set dev p0 isolated on"},
                  {"bridge link set dev p1 isolated on"},
                  "isolated",
                  {"bridge link set dev p1 isolated off"}},
        Condition{
            "VlanFiltering",
            {"ip link set br0 type bridge vlan_filtering 1 && ip link set br0 type bridge vlan_filtering 0"},
            {"ip link set br0 type bridge vlan_filtering 1"},
            "bridge-options",
            {"ip link set br0 type bridge vlan_filtering 0"}}),
    [](const auto& parameter) { return parameter.param.name; });

TEST_F(Guarded, EmptyClsactIsNoReasonToBeSlow) {
    must("tc qdisc add dev p0 clsact");
    must("tc qdisc add dev p1 clsact");
    expectBackToFast();
}

TEST_F(Guarded, DefaultQueueingDisciplinesAreNoReasonToBeSlow) {
    for (const std::string kind : {"fq_codel", "pfifo_fast", "fq"})
        if (command({"tc", "qdisc", "replace", "dev", "p1", "root", kind}).exitCode == 0) {
            EXPECT_EQ(send(oneToTwo()), fastPath()) << kind;
        }
}

TEST_F(Guarded, OneIsolatedPortIsNoReasonToBeSlow) {
    must("bridge link set dev p1 isolated on");
    expectBackToFast();
}

class Capture : public Guarded {
protected:
    static UniqueFd capture(const char* interface, bool promiscuous = false) {
        UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))};
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = interface == nullptr ? 0 : static_cast<int>(::if_nametoindex(interface));
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        packet_mreq membership{};
        membership.mr_ifindex = address.sll_ifindex;
        membership.mr_type = PACKET_MR_PROMISC;
        if (promiscuous) {
            EXPECT_EQ(
                ::setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof(membership)),
                0);
        }
        return fd;
    }
    void expectSeen(UniqueFd socket, const ::testing::Matcher<Path>& expected = slowPath("capture")) {
        EXPECT_THAT(send(oneToTwo()), expected);
        std::array<std::uint8_t, 2048> buffer{};
        const auto size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        EXPECT_EQ(size, static_cast<ssize_t>(oneToTwo().bytes.size())) << "the capture missed the frame";
        socket.reset();
        expectBackToFast();
    }
};

TEST_F(Capture, OnAllDevicesSeesEveryFrame) {
    expectSeen(capture(nullptr));
}
TEST_F(Capture, OnTheIngressPortSeesEveryFrame) {
    expectSeen(capture("p0"));
}
TEST_F(Capture, OnTheEgressPortSeesEveryFrame) {
    expectSeen(capture("p1"));
}
TEST_F(Capture, OnThePromiscuousBridgeSeesEveryFrame) {
    // Before 6.15, any packet socket in the namespace counts as a capture.
    expectSeen(capture("br0", true), ::testing::AnyOf(slowPath("bridge-promisc"), slowPath("capture")));
}

TEST_F(Guarded, EgressPortThatIsDown) {
    must("ip link set p1 down");
    const auto path = send(oneToTwo());
    EXPECT_EQ(path.fast, 0U);
}

TEST_F(Guarded, EgressPortWithoutCarrier) {
    inFar("ip link set far1 down");
    EXPECT_EQ(send(oneToTwo()).fast, 0U);
}

TEST_F(Guarded, FrameLargerThanTheEgressPortTakes) {
    must("ip link set p1 mtu 1000");
    const auto large = FrameBuilder().ethernet(station(2), station(1)).udp(1000);
    EXPECT_EQ(send(large), slowPath("egress-mtu"));
    const auto fitting = FrameBuilder().ethernet(station(2), station(1)).udp(1000 - 28);
    EXPECT_EQ(send(fitting), fastPath());
    EXPECT_EQ(arrivesAt(1), oneToTwo());
    EXPECT_EQ(arrivesAt(1), fitting);
}

TEST_F(Guarded, EgressPortWhoseFarEndTakesNoRedirects) {
    inFar("ethtool -K far1 gro off");
    EXPECT_EQ(send(oneToTwo()), slowPath("egress-redirect"));
    EXPECT_EQ(arrivesAt(1), oneToTwo());
    EXPECT_EQ(arrivesAt(1), oneToTwo()) << "the frame sent while it took none was lost";
}

TEST_F(Guarded, UnfinishedChecksumIsFinishedByLinux) {
    auto unfinished = oneToTwo();
    const std::size_t udp = 14 + 20;
    unfinished.bytes[udp + 6] = unfinished.bytes[udp + 7] = 0;
    const auto before = counted(0);
    far(0).sendUnfinished(unfinished, static_cast<std::uint16_t>(udp), 6);
    ASSERT_TRUE(eventually([&] { return counted(0) != before; }));
    EXPECT_EQ(counted(0).slow["unfinished-checksum"], 1U);
    EXPECT_EQ(counted(0).fast, before.fast);
}

} // namespace
} // namespace tna::test
