// SPDX-License-Identifier: Apache-2.0
// Which table, which next hop: rules, VRFs, several next hops. Linux decides, and the packet comes out where
// it would without the fast path.
#include "route_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

/// For either protocol: how it is written, and the hosts behind the ports.
struct Protocol {
    const char* ip;
    const char* fields; ///< of the packet that is sent: what a rule may ask for
    const char* sender; ///< of another one
    const char* receiver;
    std::string host[3];
};
const Protocol ipv4{"ip",
                    "from 10.0.0.2 to 10.0.1.2",
                    "from 10.0.0.3 to 10.0.1.2",
                    "to 10.0.1.3",
                    {"10.0.0.2", "10.0.1.2", "10.0.2.2"}};
const Protocol ipv6{"ip -6",
                    "from fd00::2 to fd00:0:0:1::2",
                    "from fd00::3 to fd00:0:0:1::2",
                    "to fd00:0:0:1::3",
                    {"fd00:0:0:0::2", "fd00:0:0:1::2", "fd00:0:0:2::2"}};

template <typename Router>
class Policy : public Router {
protected:
    static constexpr bool isIpv6 = std::is_same_v<Router, Route6Test>;
    const Protocol& protocol = isIpv6 ? ipv6 : ipv4;

    [[nodiscard]] std::string ip(const std::string& words) const {
        return std::string(protocol.ip) + " " + words;
    }
    /// A rule that sends what it matches out of p2, before all others: whether it matches our packet, and
    /// whether that can be known without Linux.
    void expectRule(const std::string& selector, bool matches, bool known, const Frame& frame) {
        SCOPED_TRACE(selector);
        const auto words = fmt::format("priority 1 {} lookup 7", selector);
        if (command({"sh", "-c", ip("rule add " + words)}).exitCode != 0)
            return; // older kernels and tools know fewer selectors
        const auto path = known ? fastPath() : slowPath("ip-rules");
        EXPECT_EQ(this->treat(frame), (Treatment{path, Router::routedTo(frame, matches ? 2 : 1)}));
        EXPECT_EQ(this->treat(frame), (Treatment{path, Router::routedTo(frame, matches ? 2 : 1)}));
        must(ip("rule del " + words));
        EXPECT_EQ(this->treat(frame), (Treatment{fastPath(), Router::routedTo(frame)}));
    }
    void expectRules(const Frame& frame) {
        must(ip("route add default via " + protocol.host[2] + " table 7"));
        this->accelerate();
        if (this->IsSkipped())
            return;
        this->expectFast(frame);
        for (const char* matching : {"iif p0", protocol.fields, "fwmark 0/1", "not iif p1", "not fwmark 1"})
            expectRule(matching, true, true, frame);
        for (const char* other : {"iif p1", "iif lo", "oif p1", "fwmark 1", protocol.sender,
                                  protocol.receiver, "iif none", "not from all", "iif p2 tos 0x10"})
            expectRule(other, false, true, frame);
        for (const char* matching : {"ipproto 17", "not tos 0x10", "uidrange 0-7"})
            expectRule(matching, true, false, frame);
        for (const char* other :
             {"tos 0x10", "ipproto 6", "dport 7", "tun_id 5", "uidrange 1-7", "not uidrange 0-7"})
            expectRule(other, false, false, frame);
    }
    /// Out of either port, as the hash says: by addresses, or with ports as well.
    void expectSeveralNextHops(const std::string& to, const std::vector<Frame>& frames) {
        must(ip(fmt::format("route add {} nexthop via {} nexthop via {}", to, protocol.host[1],
                            protocol.host[2])));
        std::map<unsigned, unsigned> ports;
        std::vector<Arrivals> linux;
        const auto eachBoth = [&](auto visit) {
            for (const char* by : {"0", "1"}) {
                sysctl(std::string("net.") + (isIpv6 ? "ipv6" : "ipv4") + ".fib_multipath_hash_policy", by);
                for (const auto& frame : frames)
                    visit(frame);
            }
        };
        eachBoth([&](const Frame& frame) {
            linux.push_back(this->treat(frame).out);
            for (const auto& [port, arrived] : linux.back())
                ports[port]++;
        });
        EXPECT_EQ(ports.size(), 2U) << "Linux did not spread them";
        this->accelerate();
        if (this->IsSkipped())
            return;
        std::size_t next = 0;
        eachBoth([&](const Frame& frame) {
            EXPECT_EQ(this->treat(frame), (Treatment{slowPath("multipath"), linux[next++]}));
        });
    }
    /// False where there are no VRFs.
    static bool makeVrf() {
        return command({"ip", "link", "add", "vrf0", "type", "vrf", "table", "7"}).exitCode == 0 &&
               command({"ip", "link", "set", "vrf0", "up"}).exitCode == 0;
    }
    /// The first VRF brings a rule along, which does not matter to other ports; one of its own says why.
    void expectVrf(const Frame& frame) {
        this->accelerate();
        if (this->IsSkipped())
            return;
        this->expectFast(frame);
        sysctl("net.ipv6.conf.p0.keep_addr_on_down", "1"); // or there would be nothing that is routed
        if (!makeVrf())
            GTEST_SKIP() << "this kernel has no VRFs";
        this->expectFast(frame);
        must("ip link set p0 master vrf0");
        EXPECT_EQ(this->treat(frame).path.fast, 0U);
        this->pump();
        EXPECT_TRUE(this->reaches("p0", "linux"));
        const auto why = (*this->controller_->port("p0"))["features"][0]["reasons"][0];
        EXPECT_EQ(why["text"], "vrf0 (of kind vrf) owns it, and what such devices receive is left to Linux");
    }
};

using Policy4 = Policy<RouteTest>;
using Policy6 = Policy<Route6Test>;

TEST_F(Policy4, Rules) {
    expectRules(packet());
}

TEST_F(Policy6, Rules) {
    expectRules(packet({.next = 17}));
}

TEST_F(Policy4, SeveralNextHops) {
    std::vector<Frame> frames;
    for (unsigned i = 1; i <= 16; i++)
        frames.push_back(packet({.to = "10.9.0." + std::to_string(i)}));
    expectSeveralNextHops("10.9.0.0/16", frames);
}

TEST_F(Policy6, SeveralNextHops) {
    std::vector<Frame> frames;
    for (unsigned i = 1; i <= 16; i++)
        frames.push_back(packet({.to = "fd09::" + std::to_string(i)}));
    expectSeveralNextHops("fd09::/16", frames);
}

TEST_F(Policy4, PortOfAVrf) {
    expectVrf(packet());
}

TEST_F(Policy6, PortOfAVrf) {
    expectVrf(packet());
}

/// A link without carrier: its routes are still there, unless the setting has them ignored.
TEST_F(Policy4, RoutesWithALinkThatHasNoCarrier) {
    must("ip route add 10.0.1.0/24 via 10.0.2.2 metric 9");
    inFar("ip link set far1 down");
    const auto isDown = [] {
        return command({"ip", "route", "show", "dev", "p1"}).output.find("linkdown") != std::string::npos;
    };
    ASSERT_TRUE(eventually(isDown));
    const auto linux = treat(packet()).out;
    sysctl("net.ipv4.conf.p1.ignore_routes_with_linkdown", "1");
    EXPECT_EQ(treat(packet()).out, routedTo(packet(), 2));
    sysctl("net.ipv4.conf.p1.ignore_routes_with_linkdown", "0");
    accelerate();
    if (IsSkipped())
        return;
    EXPECT_EQ(treat(packet()).out, linux);
    sysctl("net.ipv4.conf.p1.ignore_routes_with_linkdown", "1");
    EXPECT_EQ(treat(packet()).out, routedTo(packet(), 2));
    sysctl("net.ipv4.conf.p1.ignore_routes_with_linkdown", "0");
    EXPECT_EQ(treat(packet()).out, linux);
}

} // namespace
} // namespace tna::test
