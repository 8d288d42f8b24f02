// SPDX-License-Identifier: Apache-2.0
// The straight line of packets with tags, run by hand as in route_test.cpp.
#include "bridge_vlan_fixture.hpp"
#include "route_pipeline.hpp"
#include "vlan_route_fixture.hpp"

namespace tna::test {
namespace {

/// Packets come in with two tags, and leave with two others.
class BetweenStacks : public VlanStacksOf<RouteTest> {
public:
    static Frame in(const Ipv4& fields = {}) { return tagged(packet(fields), 10, 100, 0x88a8); }
    static Frame routed(const Frame&) { return tagged(RouteTest::routed(packet()), 20, 200, 0x88a8); }

protected:
    void SetUp() override {
        VlanStacksOf<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        stack(0, "p0", 100, 10);
        stack(1, "p1", 200, 20);
        atLast(in(), {{1, {routed(in())}}});
    }
};

class VlanStraightLine : public RoutePipeline<BetweenStacks> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        return {.modules = {assemble::routeModule({.vlanDevices = true, .vlanStacks = true})}};
    }
};

TEST_F(VlanStraightLine, SeesWhatDeservesACloserLook) {
    expectCloserLooks(in(), closerLooks({"p0", "s0", "v0"}, {"p1", "s1", "v1"}));
}

/// From one VLAN of a bridge to another.
class BetweenVlans : public BridgeVlans<RouteTest> {
public:
    static Frame in(const Ipv4& fields = {}) { return tagged(packet(fields), 10); }
    static Frame routed(const Frame&) { return tagged(further(packet()), 20); }

protected:
    void SetUp() override {
        BridgeVlans<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        interVlan();
        atLast(in(), {{1, {routed(in())}}});
    }
};

class InterVlanStraightLine : public RoutePipeline<BetweenVlans> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        return {.modules = {assemble::bridgeModule({.vlanProtocol = ETH_P_8021Q}),
                            assemble::routeModule(
                                {.bridges = true, .bridgeVlans = true, .station = {portMac(0)}})},
                .brNetfilter = brNetfilter()};
    }
};

TEST_F(InterVlanStraightLine, SeesWhatDeservesACloserLook) {
    auto looks = closerLooks({"p0", "br0", "v0"}, {"p1", "br0", "v1"});
    looks.push_back({{"ip link add link p0 name q0 type vlan id 11"}, "ip link del q0"});
    expectCloserLooks(in(), looks);
}

/// From a routed port to a VLAN of a bridge, whose frames leave without a tag. Of IPv6: what is done to a
/// bridge moves the generation of IPv4.
class ToVlan : public BridgeVlans<Route6Test> {
public:
    static Frame in() {
        auto frame = packet({.from = hostBehind(2)});
        comesInBy(2, frame);
        return frame;
    }
    static Frame routed(const Frame& frame) { return further(frame); }

protected:
    void SetUp() override {
        BridgeVlans<Route6Test>::SetUp();
        if (IsSkipped())
            return;
        interVlan();
        part("p1", 20, "untagged");
        atLast(in(), {{1, {routed(in())}}}, 2);
    }
};

class ToVlanStraightLine : public RoutePipeline<ToVlan> {
protected:
    [[nodiscard]] assemble::Profile profile() const override {
        return {.modules = {assemble::routeModule({.bridges = true, .bridgeVlans = true})},
                .brNetfilter = brNetfilter()};
    }
    [[nodiscard]] const char* port() const override { return "p2"; }
};

TEST_F(ToVlanStraightLine, SeesWhatTheBridgeIsSetTo) {
    const std::string set = "ip link set br0 type bridge ";
    for (const auto& [on, off] : {std::pair{"vlan_protocol 802.1ad", "vlan_protocol 802.1q"},
                                  std::pair{"vlan_stats_enabled 1", "vlan_stats_enabled 0"}}) {
        expectRouted(in(), "before");
        expectRouted(in(), "once more, from the cache");
        must(set + on);
        expectUntouched(in(), on);
        must(set + off);
    }
    expectRouted(in(), "at the end");
}

} // namespace
} // namespace tna::test
