// SPDX-License-Identifier: Apache-2.0
// What a sender leaves to the hardware, where its packets leave by a device on top of others: one that says
// it cannot do that has Linux do it. Plain Linux does each first.
#include "bridge_vlan_fixture.hpp"
#include "bridged_route_fixture.hpp"
#include "tcx_fixture.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <linux/udp.h>
#include <type_traits>

namespace tna::test {
namespace {

constexpr std::size_t segment = 1000;

/// The host behind p0 has a socket, whose datagrams come in three segments, uncut, or in one with an
/// unfinished checksum.
template <typename Router>
class Sender : public AtTcx<Router> {
protected:
    static constexpr bool six = std::is_base_of_v<Route6Test, Router>;

    /// Its packets leave it by this device.
    void host(const std::string& device) {
        if (six)
            for (const char* setting : {"router_solicitations=0", "accept_dad=0", "disable_ipv6=0"})
                this->inFar("sysctl -qw net.ipv6.conf." + device + "." + setting);
        this->inFar("ip link set " + device + " up");
        this->inFar("ip address add " + address(0, 2) + (six ? "/64 dev " : "/24 dev ") + device +
                    (six ? " nodad" : ""));
        this->inFar("ip neigh replace " + address(0, 1) + " lladdr " + text(this->portMac(0)) + " dev " +
                    device + " nud permanent");
        this->inFar("ip route add " + address(1, 0) + (six ? "/64" : "/24") + " via " + address(0, 1) +
                    " dev " + device + " onlink");
        const auto inside = this->farSide_->enter();
        socket_ = UniqueFd{::socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        // Nothing of chance in the header: no flow label, no identification.
        const int value = six ? 0 : IP_PMTUDISC_DO;
        ASSERT_EQ(::setsockopt(socket_.get(), six ? IPPROTO_IPV6 : IPPROTO_IP,
                               six ? 70 /* IPV6_AUTOFLOWLABEL */ : IP_MTU_DISCOVER, &value, sizeof value),
                  0);
        const auto here = end(six ? "::" : "0.0.0.0");
        ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
    }
    [[nodiscard]] Arrivals sent(bool several) {
        const int size = several ? segment : 0;
        EXPECT_EQ(::setsockopt(socket_.get(), IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size), 0);
        (void)this->arrivals();
        const std::string bytes(several ? 3 * segment : 100, 'x');
        const auto there = end(host_);
        EXPECT_EQ(::sendto(socket_.get(), bytes.data(), bytes.size(), 0,
                           reinterpret_cast<const sockaddr*>(&there), sizeof there),
                  static_cast<ssize_t>(bytes.size()));
        return this->arrivals();
    }
    [[nodiscard]] std::uint64_t fast() const {
        return (*this->controller_->port("p0"))["port"]["fast_packets"];
    }
    /// What is sent is left as it is, but for the time in which a device is not to do something.
    void expectLinuxsWith(const std::string& set, const std::string& unset, bool several) {
        const auto whole = sent(several);
        ASSERT_TRUE(whole.contains(1));
        ASSERT_EQ(whole.at(1).size(), 1U);
        this->run({set});
        const auto linux = sent(several);
        ASSERT_NE(linux, whole) << "Linux leaves it as it is";
        this->run({unset});
        ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
        if (this->IsSkipped())
            return;
        EXPECT_EQ(sent(several), whole);
        EXPECT_EQ(fast(), 1U);
        this->run({set});
        EXPECT_EQ(sent(several), linux);
        EXPECT_EQ(fast(), 1U);
        EXPECT_TRUE(
            std::ranges::any_of((*this->controller_->port("p0"))["slow_path"],
                                [](const auto& reason) { return reason["code"] == "unfinished-checksum"; }));
        this->run({unset});
        EXPECT_EQ(sent(several), whole);
        EXPECT_EQ(fast(), 2U);
    }

    void to(const char* host) { host_ = host; }

    UniqueFd socket_;

private:
    std::string host_ = address(1, 2);

    static std::string address(unsigned network, unsigned host) {
        const auto number = std::to_string(network);
        return (six ? "fd00:0:0:" + number + "::" : "10.0." + number + ".") + std::to_string(host);
    }
    static auto end(const std::string& host) {
        std::conditional_t<six, sockaddr_in6, sockaddr_in> end{};
        if constexpr (six) {
            end.sin6_family = AF_INET6;
            end.sin6_port = htons(5000);
            ::inet_pton(AF_INET6, host.c_str(), &end.sin6_addr);
        } else {
            end.sin_family = AF_INET;
            end.sin_port = htons(5000);
            ::inet_pton(AF_INET, host.c_str(), &end.sin_addr);
        }
        return end;
    }
};

/// Out of a bridge. The far ends take everything.
template <typename Router>
class TcxOnTop : public Sender<Router> {
protected:
    void SetUp() override {
        Sender<Router>::SetUp();
        if (!this->IsSkipped())
            this->host("far0");
    }
};
using ToBridges = ::testing::Types<ToBridge, ToBridge6>;
TYPED_TEST_SUITE(TcxOnTop, ToBridges);

/// The host has a tunnel to the one behind p1.
class TcxTunnelOnTop : public TcxOnTop<ToBridge> {
protected:
    void SetUp() override {
        TcxOnTop::SetUp();
        if (IsSkipped())
            return;
        if (command({"ip", "netns", "exec", farSide_->name(), "ip", "link", "add", "tunnel", "type", "vxlan",
                     "id", "7", "local", "10.0.0.2", "remote", "10.0.1.2", "dstport", "4789"})
                .exitCode != 0)
            GTEST_SKIP() << "this kernel has no VXLAN";
        inFar("ip link set tunnel address 02:00:00:00:00:77 up");
        inFar("ip address add 10.7.1.1/24 dev tunnel");
        inFar("ip neigh replace 10.7.1.2 lladdr 02:00:00:00:00:78 dev tunnel nud permanent");
        to("10.7.1.2");
    }
    /// Each outer header has a number of chance.
    static std::vector<std::size_t> sizes(const Arrivals& arrivals) {
        std::vector<std::size_t> sizes;
        if (const auto out = arrivals.find(1); out != arrivals.end())
            for (const auto& frame : out->second)
                sizes.push_back(frame.bytes.size());
        return sizes;
    }
    /// Behind the outer headers.
    static std::vector<std::vector<std::uint8_t>> carried(const Arrivals& arrivals) {
        constexpr std::size_t headers = 14 + 20 + 8;
        std::vector<std::vector<std::uint8_t>> carried;
        if (const auto out = arrivals.find(1); out != arrivals.end())
            for (const auto& frame : out->second)
                carried.emplace_back(frame.bytes.begin() + std::min(headers, frame.bytes.size()),
                                     frame.bytes.end());
        return carried;
    }
};

/// The host begins an association.
class TcxSctpOnTop : public TcxOnTop<ToBridge> {
protected:
    void SetUp() override {
        TcxOnTop::SetUp();
        if (IsSkipped())
            return;
        (void)command({"modprobe", "-q", "sctp"});
        const auto inside = farSide_->enter();
        if (!UniqueFd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP)})
            GTEST_SKIP() << "this kernel has no SCTP";
    }
    [[nodiscard]] std::uint32_t checksum() {
        constexpr std::size_t where = 14 + 20 + 8;
        (void)arrivals();
        UniqueFd socket;
        {
            const auto inside = farSide_->enter();
            socket = UniqueFd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_SCTP)};
        }
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(5000);
        ::inet_pton(AF_INET, "10.0.1.2", &there.sin_addr);
        EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), -1);
        const auto out = arrivals();
        std::uint32_t sum = 0;
        if (!out.contains(1) || out.at(1)[0].bytes.size() < where + sizeof sum) {
            ADD_FAILURE() << "nothing came out";
            return 0;
        }
        std::memcpy(&sum, &out.at(1)[0].bytes[where], sizeof sum);
        return sum;
    }
};

TYPED_TEST(TcxOnTop, ABridgeThatLeavesNoSegmentsToItsPortsHasLinuxCutThem) {
    this->expectLinuxsWith("ethtool -K br1 tx-udp-segmentation off", "ethtool -K br1 tx-udp-segmentation on",
                           true);
}

TYPED_TEST(TcxOnTop, ABridgeThatLeavesNoChecksumsToItsPortsHasLinuxWriteThem) {
    this->expectLinuxsWith("ethtool -K br1 tx off", "ethtool -K br1 tx on", false);
}

TYPED_TEST(TcxOnTop, MoreThanABridgeTakesIsCutByLinux) {
    this->expectLinuxsWith("ip link set br1 gso_max_size 2000", "ip link set br1 gso_max_size 65536", true);
}

TYPED_TEST(TcxOnTop, MoreSegmentsThanABridgeTakesAreCutByLinux) {
    this->expectLinuxsWith("ip link set br1 gso_max_segs 2", "ip link set br1 gso_max_segs 65535", true);
}

/// Bridges leave no segments within tunnels to their ports.
TEST_F(TcxTunnelOnTop, SegmentsAreCutByLinux) {
    if (IsSkipped())
        return;
    const auto whole = sizes(sent(true));
    ASSERT_NE(whole.size(), 1U);
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    EXPECT_EQ(sizes(sent(true)), whole);
    EXPECT_EQ(fast(), 0U);
}

/// Nor checksums.
TEST_F(TcxTunnelOnTop, ChecksumsAreWrittenByLinux) {
    if (IsSkipped())
        return;
    const auto linux = carried(sent(false));
    ASSERT_EQ(linux.size(), 1U);
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    EXPECT_EQ(carried(sent(false)), linux);
    EXPECT_EQ(fast(), 0U);
}

/// Nor another sum than that of IP's protocols.
TEST_F(TcxSctpOnTop, ChecksumsAreWrittenByLinux) {
    if (IsSkipped())
        return;
    EXPECT_NE(checksum(), 0U);
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    EXPECT_NE(checksum(), 0U);
    EXPECT_EQ(fast(), 0U);
}

/// Out of a VLAN device on a bridge, which says nothing against it.
class TcxOnTopOfABridge : public Sender<BridgeVlans<RouteTest>> {};

TEST_F(TcxOnTopOfABridge, WhatTheBridgeDoesNotTakeIsCutByLinux) {
    if (IsSkipped())
        return;
    interVlan();
    inFar("ip link add link far0 name tagged type vlan id 10");
    host("tagged");
    expectLinuxsWith("ip link set br0 gso_max_size 2000", "ip link set br0 gso_max_size 65536", true);
}

} // namespace
} // namespace tna::test
