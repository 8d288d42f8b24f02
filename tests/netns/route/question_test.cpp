// SPDX-License-Identifier: Apache-2.0
// What the controller tells about packets that nobody has sent: the same as becomes of those that somebody
// sends.
#include "bridged_route_fixture.hpp"

namespace tna::test {
namespace {

using Question = RouteTest;

nlohmann::json ask(daemon::Controller& controller, const std::string& to,
                   const std::string& from = "10.0.0.2", const std::string& port = "p0") {
    const auto answer = controller.route(port, from, to);
    EXPECT_TRUE(answer) << answer.error().sentence();
    return answer.value_or(nlohmann::json::object());
}

const nlohmann::json toStation2 = {{"action", "forward"},
                                   {"port", "p1"},
                                   {"destination_mac", text(station(2))},
                                   {"source_mac", text(RouteTest::portMac(1))},
                                   {"vlan", nullptr}};

TEST_F(Question, AnswerIsWhatBecomesOfThePacket) {
    accelerate();
    const auto answer = ask(*controller_, "10.0.1.2");
    EXPECT_EQ(answer["fast_path"], toStation2);
    EXPECT_EQ(answer["kernel"]["device"], "p1");
    EXPECT_EQ(answer["kernel"]["type"], "unicast");
    expectFast(packet());
}

TEST_F(Question, NothingIsSentOrCounted) {
    accelerate();
    (void)ask(*controller_, "10.0.1.2");
    (void)ask(*controller_, "10.0.0.1");
    EXPECT_EQ(arrivals(), Arrivals{});
    EXPECT_EQ(counted(0), Path{});
}

/// A port that is at XDP, and for another one at tcx as well.
TEST_F(Question, BothHooksAreAsked) {
    if (atTcx() || watched())
        GTEST_SKIP() << "for ports at XDP, where the kernel is read in place";
    config_.ports.tcx = {"p2"};
    accelerate();
    if ((*controller_->port("p0"))["port"]["hook"] != "xdp-native+tcx")
        GTEST_SKIP() << "this kernel has no tcx";
    EXPECT_EQ(ask(*controller_, "10.0.1.2")["fast_path"], toStation2);
    EXPECT_EQ(ask(*controller_, "10.0.2.2")["fast_path"]["port"], "p2");
    EXPECT_EQ(ask(*controller_, "10.0.0.1")["fast_path"]["reason"], "not-routed");
    EXPECT_EQ(counted(0), Path{});
}

TEST_F(Question, ReasonsAreThoseOfThisMoment) {
    accelerate();
    EXPECT_EQ(ask(*controller_, "10.0.0.1")["fast_path"]["reason"], "not-routed");
    EXPECT_EQ(ask(*controller_, "10.0.0.1")["kernel"]["type"], "local");
    EXPECT_EQ(ask(*controller_, "10.9.0.1")["fast_path"]["reason"], "not-routed");
    EXPECT_FALSE(ask(*controller_, "10.9.0.1")["kernel"]["error"].is_null());
    must("sysctl -qw net.ipv4.conf.p0.forwarding=0");
    EXPECT_EQ(ask(*controller_, "10.0.1.2")["fast_path"]["reason"], "not-forwarding");
    must("sysctl -qw net.ipv4.conf.p0.forwarding=1");
    EXPECT_EQ(ask(*controller_, "10.0.1.2")["fast_path"], toStation2);
    must("ip route add 10.9.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.2.2");
    EXPECT_EQ(ask(*controller_, "10.9.0.1")["fast_path"]["reason"], "multipath");
    ASSERT_TRUE(controller_->pause("p0", true));
    EXPECT_EQ(ask(*controller_, "10.0.1.2")["fast_path"]["reason"], "paused");
}

TEST_F(Question, NonsenseIsRefused) {
    accelerate();
    EXPECT_FALSE(controller_->route("p9", "10.0.0.2", "10.0.1.2"));
    EXPECT_FALSE(controller_->route("p0", "x", "10.0.1.2"));
    EXPECT_FALSE(controller_->route("p0", "10.0.0.2", ""));
    EXPECT_FALSE(controller_->route("p0", "10.0.0.2", "fd00::2"));
    EXPECT_FALSE(controller_->route("p0", "fd00::2", "10.0.0.2"));
}

using Question6 = Route6Test;

TEST_F(Question6, AnswerIsWhatBecomesOfThePacket) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2");
    accelerate();
    const auto answer = ask(*controller_, "fd09::1", "fd00::2");
    EXPECT_EQ(answer["fast_path"], toStation2);
    EXPECT_EQ(answer["kernel"],
              nlohmann::json(
                  {{"type", "unicast"}, {"device", "p1"}, {"gateway", "fd00:0:0:1::2"}, {"error", nullptr}}));
    EXPECT_EQ(arrivals(), Arrivals{});
    EXPECT_EQ(counted(0), Path{});
    expectFast(packet({.to = "fd09::1"}));
}

TEST_F(Question6, ReasonsAreThoseOfThisMoment) {
    accelerate();
    EXPECT_EQ(ask(*controller_, "fd00::1", "fd00::2")["fast_path"]["reason"], "not-routed");
    EXPECT_EQ(ask(*controller_, "fd00::1", "fd00::2")["kernel"]["type"], "local");
    EXPECT_FALSE(ask(*controller_, "fd77::1", "fd00::2")["kernel"]["error"].is_null());
    EXPECT_EQ(ask(*controller_, "fd00:0:0:1::2", "fe80::1")["fast_path"]["reason"], "ip-address");
    must("ip -6 route add fd09::/16 nexthop via fd00:0:0:1::2 nexthop via fd00:0:0:2::2");
    EXPECT_EQ(ask(*controller_, "fd09::1", "fd00::2")["fast_path"]["reason"], "multipath");
    sysctl("net.ipv6.conf.all.forwarding", "0");
    EXPECT_EQ(ask(*controller_, "fd00:0:0:1::2", "fd00::2")["fast_path"]["reason"], "not-forwarding");
}

TEST_F(FromBridgeToBridge, AnswersAreAboutBridgesAsWell) {
    accelerate();
    const auto answer = ask(*controller_, "10.0.1.2");
    EXPECT_EQ(answer["received_as"], "br0");
    EXPECT_EQ(answer["fast_path"], toStation2);
    EXPECT_EQ(answer["kernel"]["device"], "br1");
    EXPECT_EQ(ask(*controller_, "10.0.1.2", "10.0.0.9")["fast_path"]["reason"], "source-unknown");
}

} // namespace
} // namespace tna::test
