// SPDX-License-Identifier: Apache-2.0
// Links that packets are routed to and from.
#include "world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

/// A world in which the link is accelerated as a router's port.
struct Router : World {
    Router() {
        network.links.erase(bridgeIndex);
        port().bridgePort.reset();
        port().master = 0;
        port().flags = model::link_flag::up;
        port().ip.forwarding4 = true;
        port().addresses = {{4, "10.0.0.1/24", "global"}};
        capabilities.inPlaceFdb.available = false;
    }
    [[nodiscard]] bool planned() const { return !assemble(network, capabilities, wishes).ports.empty(); }
    [[nodiscard]] std::string why() const {
        const auto decided = plan();
        return decided.reasons.empty() ? "" : decided.reasons.front().code;
    }
    [[nodiscard]] RouteParameters part() const { return routeParameters(*plan().profile->module("route")); }
};

TEST(AssembleRouter, PortWithNothingInTheWayIsAccelerated) {
    const auto plan = Router().plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->name(), "route");
    EXPECT_EQ(plan.profile->moduleNames(), std::vector<std::string>{"route"});
    EXPECT_TRUE(plan.routed);
    EXPECT_TRUE(plan.egress);
}

TEST(AssembleRouter, ManyRoutesAreThoseOfTheMainTable) {
    Router router;
    router.network.routes = {{4, 254, {{"unicast", 60}, {"blackhole", 40}}},
                             {4, 100, {{"unicast", 900}}},
                             {6, 254, {{"unicast", 900}}}};
    EXPECT_FALSE(router.part().manyRoutes);
    router.wishes.manyRoutes = 101;
    EXPECT_FALSE(router.part().manyRoutes);
    router.wishes.manyRoutes = 100;
    EXPECT_TRUE(router.part().manyRoutes);
    EXPECT_EQ(router.plan().profile->name(), "route+many-routes");
}

TEST(AssembleRouter, BrNetfilterDoesNotMatter) {
    Router router;
    router.capabilities.brNetfilter = true;
    EXPECT_FALSE(router.plan().profile->brNetfilter);
}

TEST(AssembleRouter, DevicesThatAreNoPortsAreLeftToLinux) {
    for (const auto& [kind, code] :
         {std::pair{"bond", "stacked"}, {"wireguard", "stacked"}, {"vxlan", "stacked"}}) {
        Router router;
        router.port().kind = kind;
        EXPECT_EQ(router.why(), code);
        EXPECT_FALSE(router.plan().egress);
    }
}

/// A world with a VLAN device on a port without an address.
struct VlanRouter : Router {
    static constexpr model::IfIndex index = 78;
    VlanRouter() {
        auto& vlan = network.links[index] = port();
        port().addresses.clear();
        vlan.ifindex = index;
        vlan.kind = "vlan";
        vlan.vlan.emplace();
        vlan.lower = port().ifindex;
    }
    model::Link& vlan() { return network.links[index]; }
};

TEST(AssembleVlanRouter, ThePortUnderneathIsAccelerated) {
    VlanRouter world;
    const auto profile = world.plan().profile;
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->name(), "route+vlan-devices");
    EXPECT_TRUE(routeParameters(*profile->module("route")).stacked());
    EXPECT_FALSE(assemble(world.network, world.capabilities, world.wishes).ports.contains(VlanRouter::index));
}

TEST(AssembleVlanRouter, OtherVlanDevicesAreLeftToLinux) {
    using Change = void (*)(VlanRouter&);
    for (const Change change : {Change{[](VlanRouter& world) { world.vlan().lowerElsewhere = true; }},
                                Change{[](VlanRouter& world) { world.vlan().lower = 99; }},
                                Change{[](VlanRouter& world) { world.vlan().master = 7; }},
                                Change{[](VlanRouter& world) { world.port().master = 7; }},
                                Change{[](VlanRouter& world) { world.port().flags = 0; }},
                                Change{[](VlanRouter& world) { world.port().bridgePort.emplace(); }},
                                Change{[](VlanRouter& world) { world.port().kind = "macvlan"; }}}) {
        VlanRouter world;
        change(world);
        const auto plan = assemble(world.network, world.capabilities, world.wishes);
        ASSERT_TRUE(plan.ports.contains(VlanRouter::index));
        EXPECT_EQ(plan.ports.at(VlanRouter::index).reasons.front().code, "vlan-device");
        EXPECT_FALSE(plan.ports.at(VlanRouter::index).egress);
    }
}

/// The bond is what can be named in the configuration, not the VLAN device.
TEST(AssembleVlanRouter, OfAVlanDeviceOnABondTheBondIsThePort) {
    VlanRouter world;
    world.port().kind = "bond";
    const auto plan = assemble(world.network, world.capabilities, world.wishes);
    EXPECT_FALSE(plan.ports.contains(VlanRouter::index));
    EXPECT_EQ(plan.ports.at(portIndex).reasons.front().code, "stacked");
}

/// A VLAN device on another one, which is no router's.
struct VlanStackRouter : VlanRouter {
    static constexpr model::IfIndex onTop = 79;
    VlanStackRouter() {
        auto& top = network.links[onTop] = vlan();
        top.ifindex = onTop;
        top.lower = index;
        vlan().addresses.clear();
    }
};

TEST(AssembleVlanRouter, OnesOnVlanDevicesAreRoutedByThePortUnderneath) {
    VlanStackRouter world;
    EXPECT_EQ(world.plan().profile->name(), "route+vlan-devices+vlan-stacks");
    EXPECT_FALSE(
        assemble(world.network, world.capabilities, world.wishes).ports.contains(VlanStackRouter::onTop));
}

TEST(AssembleVlanRouter, OtherStacksAreLeftToLinux) {
    using Change = void (*)(VlanStackRouter&);
    for (const Change change : {Change{[](VlanStackRouter& world) { world.vlan().master = 7; }},
                                Change{[](VlanStackRouter& world) { world.vlan().flags = 0; }},
                                Change{[](VlanStackRouter& world) { world.vlan().lowerElsewhere = true; }},
                                Change{[](VlanStackRouter& world) { world.port().kind = "macvlan"; }},
                                Change{[](VlanStackRouter& world) { world.port().kind = "bridge"; }},
                                Change{[](VlanStackRouter& world) { world.port().kind = "vlan"; }}}) {
        VlanStackRouter world;
        change(world);
        const auto plan = assemble(world.network, world.capabilities, world.wishes);
        ASSERT_TRUE(plan.ports.contains(VlanStackRouter::onTop));
        EXPECT_EQ(plan.ports.at(VlanStackRouter::onTop).reasons.front().code, "vlan-device");
    }
}

TEST(AssembleVlanRouter, OneThatDoesNotRouteIsNotInThePlan) {
    VlanRouter world;
    world.vlan().addresses.clear();
    EXPECT_FALSE(world.planned());
}

/// A port of no bridge, with the index 77.
model::Link& addPort(World& world) {
    auto& port = world.network.links[77] = world.port();
    port.ifindex = 77;
    port.bridgePort.reset();
    port.master = 0;
    port.flags = model::link_flag::up;
    world.capabilities.devices[77] = world.capabilities.devices.begin()->second;
    return port;
}

/// One that packets are routed by.
void addRoutedPort(World& world) {
    auto& port = addPort(world);
    port.ip.forwarding4 = true;
    port.addresses = {{4, "10.0.1.1/24", "global"}};
}

/// A world whose bridge has an address.
struct RoutingBridge : World {
    RoutingBridge() {
        bridge().flags = model::link_flag::up;
        bridge().ip.forwarding4 = true;
        bridge().addresses = {{4, "10.0.0.1/24", "global"}};
        bridge().mac.bytes = {2, 0, 0, 0, 0, 9};
    }
};

TEST(AssembleRoutingBridge, ItsPortsRouteAsWell) {
    RoutingBridge world;
    const auto profile = world.plan().profile;
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->name(), "bridge+route");
    EXPECT_EQ(profile->moduleNames(), (std::vector<std::string>{"bridge", "route"}));
    const auto parameters = routeParameters(*profile->module("route"));
    EXPECT_TRUE(parameters.bridges);
    EXPECT_EQ(parameters.station, world.bridge().mac);
    EXPECT_FALSE(assemble(world.network, world.capabilities, world.wishes).ports.contains(bridgeIndex));
}

TEST(AssembleRoutingBridge, OtherBridgesDoNot) {
    using Change = void (*)(model::Link&);
    for (const Change change : {Change{[](model::Link& bridge) { bridge.flags = 0; }},
                                Change{[](model::Link& bridge) { bridge.ip.forwarding4 = false; }},
                                Change{[](model::Link& bridge) { bridge.addresses.clear(); }},
                                Change{[](model::Link& bridge) { bridge.master = 9; }}}) {
        RoutingBridge world;
        change(world.bridge());
        const auto profile = world.plan().profile;
        ASSERT_TRUE(profile);
        EXPECT_EQ(profile->moduleNames(), std::vector<std::string>{"bridge"});
    }
}

TEST(AssembleRoutingBridge, ItsPortsSendToVlanDevicesBesideIt) {
    RoutingBridge world;
    auto& vlan = world.network.links[78] = addPort(world);
    vlan.ifindex = 78;
    vlan.kind = "vlan";
    vlan.vlan.emplace();
    vlan.lower = 77;
    vlan.ip.forwarding4 = true;
    vlan.addresses = {{4, "10.0.1.1/24", "global"}};
    EXPECT_EQ(world.plan().profile->name(), "bridge+route+vlan-devices");
    EXPECT_EQ(assemble(world.network, world.capabilities, world.wishes).ports.at(77).profile->name(),
              "route+bridges+vlan-devices");
}

TEST(AssembleRoutingBridge, OneThatFiltersVlansRoutesWhereThoseAreProved) {
    RoutingBridge world;
    world.bridge().bridge->vlanFiltering = true;
    world.bridge().kind = "bridge";
    EXPECT_EQ(world.plan().reasons.front().code, "vlans-not-proved");
    world.capabilities.inPlaceVlans.available = true;
    const auto profile = world.plan().profile;
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->name(), "bridge+route+bridge-vlans+vlan");
    EXPECT_FALSE(assemble(world.network, world.capabilities, world.wishes).ports.contains(bridgeIndex));
}

/// A world whose bridge has no address, but a VLAN device with one.
struct VlanOnBridge : World {
    static constexpr model::IfIndex index = 78;
    VlanOnBridge() {
        bridge().flags = model::link_flag::up;
        bridge().kind = "bridge";
        bridge().mac.bytes = {2, 0, 0, 0, 0, 9};
        auto& vlan = network.links[index];
        vlan.ifindex = index;
        vlan.kind = "vlan";
        vlan.vlan.emplace();
        vlan.lower = bridgeIndex;
        vlan.flags = model::link_flag::up;
        vlan.ip.forwarding4 = true;
        vlan.addresses = {{4, "10.0.0.1/24", "global"}};
    }
};

TEST(AssembleVlanOnBridge, TheBridgesPortsRoute) {
    const VlanOnBridge world;
    const auto profile = world.plan().profile;
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->name(), "bridge+route+bridge-vlans");
    const auto parameters = routeParameters(*profile->module("route"));
    EXPECT_TRUE(parameters.stacked());
    EXPECT_EQ(parameters.station, (model::MacAddress{.bytes = {2, 0, 0, 0, 0, 9}}));
    const auto plan = assemble(world.network, world.capabilities, world.wishes);
    EXPECT_FALSE(plan.ports.contains(VlanOnBridge::index));
    EXPECT_FALSE(plan.ports.contains(bridgeIndex));
}

TEST(AssembleVlanOnBridge, OthersAreLeftToLinux) {
    using Change = void (*)(VlanOnBridge&);
    for (const Change change :
         {Change{[](VlanOnBridge& world) { world.bridge().flags = 0; }},
          Change{[](VlanOnBridge& world) { world.bridge().master = 9; }},
          Change{[](VlanOnBridge& world) { world.network.links[VlanOnBridge::index].lowerElsewhere = true; }},
          Change{[](VlanOnBridge& world) { world.network.links[VlanOnBridge::index].master = 9; }}}) {
        VlanOnBridge world;
        change(world);
        EXPECT_EQ(world.plan().profile->module("route"), nullptr);
        const auto plan = assemble(world.network, world.capabilities, world.wishes);
        ASSERT_TRUE(plan.ports.contains(VlanOnBridge::index));
        EXPECT_EQ(plan.ports.at(VlanOnBridge::index).reasons.front().code, "vlan-device");
    }
}

TEST(AssembleVlanOnBridge, RoutedPortsBesideItSendToIt) {
    VlanOnBridge world;
    addRoutedPort(world);
    const auto name = [&] {
        return assemble(world.network, world.capabilities, world.wishes).ports.at(77).profile->name();
    };
    EXPECT_EQ(name(), "route+bridges+bridge-vlans");
    world.bridge().bridge->vlanFiltering = true;
    EXPECT_EQ(name(), "route+bridges") << "its VLANs are not proved yet";
    world.capabilities.inPlaceVlans.available = true;
    EXPECT_EQ(name(), "route+bridges+bridge-vlans");
}

TEST(AssembleRoutingBridge, RoutedPortsBesideItSendToIt) {
    RoutingBridge world;
    addRoutedPort(world);
    world.capabilities.brNetfilter = true;
    const auto plan = assemble(world.network, world.capabilities, world.wishes).ports.at(77);
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->name(), "route+bridges+br_netfilter");
    EXPECT_TRUE(routeParameters(*plan.profile->module("route")).bridges);
    EXPECT_EQ(plan.profile->module("bridge"), nullptr);
}

TEST(AssembleRouter, LinksThatDoNotRouteAreNotInThePlan) {
    using Change = void (*)(model::Link&);
    for (const Change change : {Change{[](model::Link& link) { link.flags = 0; }},
                                Change{[](model::Link& link) { link.flags |= model::link_flag::loopback; }},
                                Change{[](model::Link& link) { link.ip.forwarding4 = false; }},
                                Change{[](model::Link& link) { link.addresses.clear(); }},
                                Change{[](model::Link& link) { link.addresses[0].family = 6; }},
                                Change{[](model::Link& link) { link.bridgePort.emplace(); }}}) {
        Router router;
        change(router.port());
        EXPECT_FALSE(router.planned());
    }
}

TEST(AssembleRouter, EitherProtocolIsEnoughWhereItIsForwarded) {
    Router router;
    router.port().addresses = {{6, "fe80::1/64", "link"}};
    EXPECT_FALSE(router.planned());
    router.port().ip = {.forwarding6 = true};
    EXPECT_TRUE(router.planned());
    router.port().addresses = {{4, "10.0.0.1/24", "global"}};
    EXPECT_FALSE(router.planned());
}

TEST(AssembleRouter, PortsOfOtherDevicesAreLeftToLinux) {
    Router router;
    router.port().master = 7;
    EXPECT_EQ(router.why(), "has-master");
}

TEST(AssembleRouter, HiddenTagsAreLeftToLinux) {
    Router router;
    router.port().vlanRxOffload = true;
    EXPECT_EQ(router.why(), "vlan-offload");
    router.port().kind = "veth";
    EXPECT_EQ(router.why(), "");
}

} // namespace
} // namespace tna::assemble
