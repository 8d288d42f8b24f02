// SPDX-License-Identifier: Apache-2.0
// Routing rules (`ip rule`): which tables they lead to, what they do with what is found there, and what the
// source is asked for where there are any.
#include "route_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

struct Words {
    const char* ip;
    const char* net;     ///< of the host behind p1
    unsigned length;     ///< of its prefix
    const char* gateway; ///< that host
    const char* by;      ///< the host behind p2
    const char* others;
    const char* from; ///< a host behind p0
};
const Words ruled4{"ip ", "10.0.1.0/24", 24, "10.0.1.2", "10.0.2.2", "10.9.0.0/16", "10.0.0.3"};
const Words ruled6{"ip -6 ", "fd00:0:0:1::/64", 64, "fd00:0:0:1::2", "fd00:0:0:2::2", "fd09::/16", "fd00::3"};

/// Table 7 leads to the host behind p2, whatever the destination.
template <typename Router>
class Ruled : public Router {
protected:
    static constexpr bool isIpv6 = std::is_same_v<Router, Route6Test>;
    const Words& words = isIpv6 ? ruled6 : ruled4;
    Frame frame;

    void SetUp() override {
        Router::SetUp();
        if (this->IsSkipped())
            return;
        frame = Router::packet({});
        route("default", 7);
        this->accelerate();
    }
    void ip(const std::string& line) const { must(words.ip + line); }
    void route(const std::string& to, unsigned table) const {
        ip(fmt::format("route add {} via {} table {}", to, words.by, table));
    }
    void rule(unsigned priority, const std::string& line) const {
        ip(fmt::format("rule add priority {} {}", priority, line));
    }
    void expectBoth(const Path& path, const Arrivals& out) {
        EXPECT_EQ(this->treat(frame), (Treatment{path, out}));
        EXPECT_EQ(this->treat(frame), (Treatment{path, out}));
    }
    void expectFast(unsigned port) { expectBoth(fastPath(), Router::routedTo(frame, port)); }
    void expectSlow(unsigned port, const char* reason = "ip-rules") {
        expectBoth(slowPath(reason), Router::routedTo(frame, port));
    }
    /// Linux marks routes that it passes over as used, without which their going would not be announced.
    void expectFastFromTheSecond(unsigned port) {
        EXPECT_EQ(this->treat(frame), (Treatment{slowPath("ip-rules"), Router::routedTo(frame, port)}));
        expectFast(port);
    }
    void expectNothing(const char* reason) { expectBoth(slowPath(reason), {}); }
    /// The sender may be told so.
    void expectRefusal() {
        const auto treated = this->treat(frame);
        EXPECT_EQ(treated.path, slowPath("not-routed"));
        EXPECT_EQ(treated.out.count(1) + treated.out.count(2), 0U);
    }
    /// To one of many hosts elsewhere, from the host that rules may ask for, or another one.
    Frame packetTo(unsigned host, bool asked) const {
        if constexpr (isIpv6)
            return Router::packet(
                {.from = asked ? words.from : "fd00::2", .to = fmt::format("fd09::{}", host)});
        else
            return Router::packet(
                {.from = asked ? words.from : "10.0.0.2", .to = fmt::format("10.9.0.{}", host)});
    }
    void rename(const std::string& from, const std::string& to) {
        if (command({"ip", "link", "set", from, "name", to}).exitCode == 0) // since 6.2
            return;
        must("ip link set " + from + " down");
        must("ip link set " + from + " name " + to);
        must("ip link set " + to + " up");
        EXPECT_TRUE(eventually([&] { return !this->treat(frame).out.empty(); })) << to;
    }
};

using RoutingRules4 = Ruled<RouteTest>;
template <typename Router>
class RoutingRules : public Ruled<Router> {};
using Routers = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(RoutingRules, Routers);

TYPED_TEST(RoutingRules, LeadToTheFirstTableThatHasARoute) {
    this->expectFast(1);
    this->rule(10, "lookup 8"); // there is none
    this->expectFast(1);
    this->route(this->words.others, 8);
    this->expectFast(1);
    this->route(this->words.net, 8);
    this->expectFast(2);
    this->ip("route flush table 8");
    this->expectFast(1);
}

/// What another source's packets have found does not matter, although their next hop is the same.
TYPED_TEST(RoutingRules, AreAskedForEachSource) {
    sysctl("net.ipv4.conf.all.rp_filter", "1");
    this->ip(fmt::format("route add {} via {}", this->words.others, this->words.gateway));
    this->rule(10, fmt::format("from {} lookup 7", this->words.from));
    for (const bool asked : {false, true, false, true})
        for (unsigned host = 1; host <= 20; host++) {
            const auto other = this->packetTo(host, asked);
            EXPECT_EQ(this->treat(other),
                      (Treatment{fastPath(), TestFixture::routedTo(other, asked ? 2 : 1)}));
        }
}

/// Tables lie in 256 places.
TYPED_TEST(RoutingRules, TellTablesFromEachOther) {
    this->route("default", 263);
    this->rule(10, "lookup 519");
    this->expectFast(1);
    this->rule(11, "lookup 263");
    this->expectFast(2);
}

TYPED_TEST(RoutingRules, ComeInTheirOrder) {
    this->rule(20, "lookup 7");
    this->expectFast(2);
    this->rule(10, "lookup main");
    this->expectFast(1);
    this->ip("rule del priority 10");
    this->expectFast(2);
    this->rule(10, "nop");
    this->expectFast(2);
}

TYPED_TEST(RoutingRules, ThatSayNo) {
    for (const char* action : {"blackhole", "prohibit", "unreachable"}) {
        SCOPED_TRACE(action);
        this->rule(10, action);
        this->expectRefusal();
        this->ip("rule del priority 10");
        this->expectFast(1);
    }
}

TYPED_TEST(RoutingRules, ThatLeadToOtherRules) {
    this->rule(30, "lookup 7");
    this->rule(20, "lookup main");
    this->rule(10, "goto 30");
    this->expectSlow(2);
    this->ip("rule del priority 30");
    this->expectSlow(1);
}

TYPED_TEST(RoutingRules, ThatDoNotWantShortPrefixes) {
    this->rule(10, fmt::format("lookup main suppress_prefixlength {}", this->words.length - 1));
    this->rule(11, "lookup 7");
    this->expectFast(1);
    this->ip("rule del priority 10");
    this->rule(10, fmt::format("lookup main suppress_prefixlength {}", this->words.length));
    if (TestFixture::isIpv6) // routes go unnoticed, and bpf_fib_lookup() knows nothing of such rules
        this->expectSlow(2);
    else
        this->expectFast(2); // it has been used
}

TYPED_TEST(RoutingRules, ThatDoNotWantAGroupOfDevices) {
    must("ip link set p1 group 5");
    this->rule(10, "lookup main suppress_ifgroup 5");
    this->rule(11, "lookup 7");
    this->expectSlow(2);
}

TYPED_TEST(RoutingRules, GoOnAfterARouteThatThrows) {
    this->ip(fmt::format("route add throw {} table 8", this->words.net));
    this->rule(10, "lookup 8");
    this->rule(11, "lookup 7");
    if (TestFixture::isIpv6) // it may go unnoticed, and bpf_fib_lookup() takes it for an answer
        return this->expectSlow(2, "not-routed");
    this->expectFastFromTheSecond(2);
    this->ip("route flush table 8");
    this->route(this->words.net, 8);
    this->expectFast(2);
}

TYPED_TEST(RoutingRules, ThatAreTooManyToFollow) {
    std::vector<std::string> lines;
    for (unsigned i = 0; i < 130; i++)
        lines.push_back(fmt::format("rule add priority {} to {} lookup 7", 100 + i, this->words.others));
    this->inOneRun(lines, this->words.ip);
    this->expectSlow(1);
    this->rule(10, "lookup 7");
    this->expectFast(2);
}

/// The table that was made first lies behind the others in their place.
TYPED_TEST(RoutingRules, ThatLeadToTablesTooFarAway) {
    std::vector<std::string> lines;
    for (unsigned i = 0; i < 65; i++)
        lines.push_back(
            fmt::format("route add {} via {} table {}", this->words.net, this->words.by, 8 + 256 * i));
    this->inOneRun(lines, this->words.ip);
    this->rule(10, "lookup 8");
    this->expectSlow(2);
    this->ip("rule del priority 10");
    this->rule(10, "lookup 264");
    this->expectFast(2);
}

/// Nothing announces that to routing.
TYPED_TEST(RoutingRules, FollowNames) {
    this->rule(10, "iif q0 lookup 7");
    this->expectFast(1);
    this->rename("p0", "q0");
    this->expectFast(2);
    this->rename("q0", "p0");
    this->expectFast(1);
}

/// A packet of the same place that is refused must not have what is remembered there look new.
TYPED_TEST(RoutingRules, FollowNamesAlsoAfterOthersAreRefused) {
    this->rule(10, "iif p0 lookup 7");
    this->expectFast(2);
    this->rename("p0", "q0");
    if constexpr (TestFixture::isIpv6)
        this->treat(this->packet({.hops = 1}));
    else
        this->treat(this->packet({.ttl = 1}));
    this->expectFast(1);
}

/// By which a rule finds the device, but not the rule's name the device's.
TYPED_TEST(RoutingRules, OfOtherNames) {
    must("ip link property add dev p0 altname other0");
    this->rule(10, "iif other0 lookup 7");
    this->expectSlow(2);
}

TEST_F(RoutingRules4, ThatLeadToRoutesByService) {
    must("ip route add 10.0.1.0/24 tos 0x10 via 10.0.2.2 table 8");
    rule(10, "lookup 8");
    expectSlow(1);
}

TEST_F(RoutingRules4, AskForTheSourceTheOtherWay) {
    rule(10, "iif p0 lookup 7");
    rule(11, "iif p2 to 10.0.0.2 lookup 8");
    expectFast(2);
    must("ip route add 10.0.0.0/24 via 10.0.1.2 table 8");
    expectFast(2);
    sysctl("net.ipv4.conf.all.rp_filter", "2");
    expectFast(2);
    sysctl("net.ipv4.conf.all.rp_filter", "1");
    expectNothing("reverse-path");
    must("ip rule del priority 11");
    expectFast(2);
    must("ip rule add priority 11 iif p1 to 10.0.0.2 lookup 8");
    expectFast(2);
}

/// Nobody asks whether a packet could go back to where it comes from. (At tcx the kernel's lookup says so.)
TEST_F(RoutingRules4, TooLargeForWhereTheSourceIs) {
    must("ip link set p2 mtu 1280");
    must("ip route add 10.0.0.2/32 via 10.0.2.2");
    frame = packet({.payload = 1400});
    expectFast(1);
    rule(10, "from 10.0.0.2 lookup main");
    expectFast(1);
}

/// Where there are rules Linux looks for the source's route whatever the filter.
TEST_F(RoutingRules4, DropWhatComesFromHere) {
    rule(10, "iif p1 to 10.0.0.2 lookup 8");
    expectFast(1);
    must("ip route add local 10.0.0.2 dev lo table 8");
    expectNothing("reverse-path");
    must("ip route flush table 8");
    must("ip route add prohibit 10.0.0.2 table 8");
    expectSlow(1, "reverse-path");
    must("ip route flush table 8");
    expectFast(1);
}

} // namespace
} // namespace tna::test
