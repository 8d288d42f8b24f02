// SPDX-License-Identifier: Apache-2.0
// TCP between containers with all offloads as Linux sets them by default, over routed ports and over bridges
// with addresses: it arrives whole, and segments are cut at the end of the way only.
#include "support/transfer.hpp"
#include "tcx_fixture.hpp"

#include "base/file.hpp"
#include "base/unique_fd.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstdio>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class TcxTransfer : public AtTcx<BridgeTest> {
protected:
    void SetUp() override {
        AtTcx::SetUp();
        if (IsSkipped())
            return;
        pinned_.reset();
        sysctl("net.ipv4.ip_forward", "1");
        sysctl("net.ipv6.conf.all.forwarding", "1");
        container(1, clients_.emplace());
        container(2, servers_.emplace());
    }
    /// A namespace behind port c<number>, whose router has addresses on that port.
    static void container(unsigned number, const Namespace& home) {
        const auto n = std::to_string(number);
        must("ip link add c" + n + " type veth peer name eth0 netns " + home.name());
        must("ip link set c" + n + " up");
        address("c" + n, number);
        const auto inside = home.enter();
        must("sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0");
        must("ip link set eth0 up");
        must("ip address add 10.1." + n + ".2/24 dev eth0");
        must("ip address add fd01:0:0:" + n + "::2/64 dev eth0 nodad");
        must("ip route add default via 10.1." + n + ".1");
        must("ip route add default via fd01:0:0:" + n + "::1");
    }
    static void address(const std::string& device, unsigned number) {
        const auto n = std::to_string(number);
        must("sysctl -qw net.ipv6.conf." + device + ".disable_ipv6=0");
        must("ip address add 10.1." + n + ".1/24 dev " + device);
        must("ip address add fd01:0:0:" + n + "::1/64 dev " + device + " nodad");
    }
    /// The other container is no router away.
    static void widen(const Namespace& home) {
        const auto inside = home.enter();
        must("ip route add 10.1.0.0/16 dev eth0");
        must("ip route add fd01::/48 dev eth0");
    }
    /// The address moves to a bridge, of which the port becomes one.
    static void bridge(unsigned number) {
        const auto n = std::to_string(number);
        must("ip address flush dev c" + n);
        must("ip link add b" + n + " type bridge mcast_snooping 0");
        must("ip link set c" + n + " master b" + n);
        must("ip link set b" + n + " up");
        address("b" + n, number);
    }
    static bool bridgesCallRules() {
        const auto calls = {"net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"};
        if (command({"sysctl", "-n", *calls.begin()}).exitCode != 0)
            return false;
        for (const char* name : calls)
            sysctl(name, "1");
        return true;
    }
    /// `learnt`: not all is fast from the first packet on.
    void expectWhole(bool learnt = false) {
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        expectWholeAsIs(learnt);
    }
    void expectWholeAsIs(bool learnt = false) {
        for (const char* port : {"c1", "c2"})
            ASSERT_TRUE(reaches(port, "accelerated"));
        for (const char* ip : {"10.1.2.2", "fd01:0:0:2::2"}) {
            SCOPED_TRACE(ip);
            std::map<std::string, nlohmann::json> before;
            for (const char* port : {"c1", "c2"})
                before[port] = (*controller_->port(port))["port"];
            const auto fast = [&](const std::string& port) {
                return (*controller_->port(port))["port"]["fast_packets"] > before[port]["fast_packets"];
            };
            const auto ready = [&] { return fast("c1") && fast("c2"); };
            transferBothWays(*clients_, *servers_, ip, learnt ? std::function(ready) : nullptr);
            for (const char* port : {"c1", "c2"}) {
                const auto now = (*controller_->port(port))["port"];
                const auto more = [&](const char* what) {
                    return now[what].get<double>() - before[port][what].get<double>();
                };
                EXPECT_GT(more("fast_packets"), 10) << now.dump();
                EXPECT_GT(more("fast_bytes") / more("fast_packets"), 1514) << now.dump();
            }
        }
    }

    std::optional<Namespace> clients_;
    std::optional<Namespace> servers_;
};

TEST_F(TcxTransfer, OverRoutedPorts) {
    expectWhole();
}

TEST_F(TcxTransfer, FromABridgeToARoutedPort) {
    bridge(1);
    expectWhole();
}

/// As on a host with Docker: both on one bridge, which has the rules called, that let it pass within.
TEST_F(TcxTransfer, ThroughABridgeThatCallsRules) {
    if (!bridgesCallRules())
        GTEST_SKIP() << "this kernel has no br_netfilter";
    must("ip link add b9 type bridge mcast_snooping 0");
    must("ip link set b9 up");
    for (const char* port : {"c1", "c2"}) {
        must(std::string("ip address flush dev ") + port);
        must(std::string("ip link set ") + port + " master b9");
    }
    widen(*clients_);
    widen(*servers_);
    must("nft table inet filter { chain forward { type filter hook forward priority 0; policy drop;"
         " iifname b9 oifname != b9 accept; oifname b9 ct state related,established accept;"
         " iifname b9 oifname b9 accept; }; }");
    config_.limits.connections = 1024;
    expectWhole(true);
}

/// The same host, and what its containers exchange with the outside: it is masqueraded.
TEST_F(TcxTransfer, MasqueradedFromABridgeThatCallsRules) {
    if (!bridgesCallRules())
        GTEST_SKIP() << "this kernel has no br_netfilter";
    bridge(1);
    must("nft table inet filter { chain early { type filter hook prerouting priority -150;"
         " ct state invalid drop; }; chain forward { type filter hook forward priority 0; policy drop;"
         " iifname b1 oifname != b1 accept; oifname b1 ct state related,established accept; };"
         " chain after { type nat hook postrouting priority 100; iifname b1 oifname != b1 masquerade; }; }");
    config_.limits.connections = 1024;
    expectWhole(true);
}

/// A segment is a clone until it is acknowledged, and a router copies clones before it changes them
/// (skb_cow()).
TEST_F(TcxTransfer, SegmentsAreLearntWhereverTheyAreCopied) {
    // At first, each segment is acknowledged at once, by one that is no clone.
    constexpr unsigned first = 40, few = 10;
    must(
        "nft table inet guard { chain forward { type filter hook forward priority 0; udp dport 1 drop; }; }");
    config_.limits.connections = 1024;
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    if (IsSkipped())
        return;
    for (const char* ip : {"10.1.2.2", "fd01:0:0:2::2"}) {
        SCOPED_TRACE(ip);
        const auto fast = [&] {
            return std::array{(*controller_->port("c1"))["port"]["fast_packets"].get<std::uint64_t>(),
                              (*controller_->port("c2"))["port"]["fast_packets"].get<std::uint64_t>()};
        };
        auto before = fast();
        unsigned exchanges = 0;
        transferBothWays(*clients_, *servers_, ip, [&] {
            if (++exchanges < first)
                return false;
            const auto now = fast();
            if (exchanges == first) {
                must("nft add rule inet guard forward udp dport 2 drop"); // all is to be learnt again
                rulesAreKnown();
                before = now;
            }
            return now[0] > before[0] && now[1] > before[1];
        });
        EXPECT_LE(exchanges, first + few);
    }
}

/// What a module has counted, of all flows and processors together.
struct Counted {
    double packets = 0, bytes = 0;
};
Counted sumOf(const nlohmann::json& entries) {
    Counted sum;
    for (const auto& entry : entries)
        for (const auto& value : entry["values"]) {
            double packets = 0, bytes = 0;
            if (std::sscanf(value.get<std::string>().c_str(), "{%lf,%lf", &packets, &bytes) == 2)
                sum = {sum.packets + packets, sum.bytes + bytes};
        }
    return sum;
}

/// Modules see segments that are yet to be cut as a whole, before the decision and behind it.
TEST_F(TcxTransfer, PastModules) {
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    for (const std::string name : {"monitor", "sampler"}) {
        const auto object = readFile(TNA_EXAMPLES + name + ".bpf.o");
        ASSERT_TRUE(object);
        const auto placed = controller_->modules().place(name, *object, {}, false);
        ASSERT_TRUE(placed) << placed.error().sentence();
    }
    ASSERT_NO_FATAL_FAILURE(expectWholeAsIs());
    const auto sum = sumOf((*controller_->modules().find("monitor", "flows"))["entries"]);
    const auto said = (*controller_->modules().find("monitor", std::nullopt))["counters"][0]["continue"];
    EXPECT_GT(sum.bytes, 4e6);
    EXPECT_GT(sum.packets, 1.5 * said.get<double>()) << "several in one";
    EXPECT_LE(sum.bytes / sum.packets, 1514);
    const auto behind = (*controller_->modules().find("sampler", std::nullopt))["counters"];
    EXPECT_EQ(behind[1]["hook"], "route");
    EXPECT_GT(behind[1]["continue"], 10) << behind;
}

/// A router copies what a sender has not, and the sender is told so.
TEST_F(TcxTransfer, WhatSendersDoNotCopyIsLinuxs) {
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    ASSERT_TRUE(reaches("c1", "accelerated"));
    UniqueFd socket;
    {
        const auto inside = clients_->enter();
        socket = UniqueFd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    }
    const int one = 1;
    ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    ::inet_pton(AF_INET, "10.1.2.2", &to.sin_addr);
    const std::vector<char> bytes(1000);
    const auto send = [&](int flags) {
        EXPECT_EQ(::sendto(socket.get(), bytes.data(), bytes.size(), flags,
                           reinterpret_cast<const sockaddr*>(&to), sizeof to),
                  static_cast<ssize_t>(bytes.size()));
    };
    const auto counted = [&](const char* what) {
        return (*controller_->port("c1"))["port"][what].get<int>();
    };
    ASSERT_TRUE(eventually([&] {
        send(0);
        return counted("fast_packets") > 0;
    }));
    const int before = counted("slow_packets");
    send(MSG_ZEROCOPY);
    EXPECT_TRUE(eventually([&] { return counted("slow_packets") > before; }));
    EXPECT_GT((*controller_->port("c1"))["port"]["slow_reasons"].value("sender-socket", 0), 0);
}

TEST_F(TcxTransfer, BetweenBridges) {
    bridge(1);
    bridge(2);
    expectWhole();
}

} // namespace
} // namespace tna::test
