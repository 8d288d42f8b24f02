// SPDX-License-Identifier: Apache-2.0
// Between which devices connections that pass rules are learnt.
#include "world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

constexpr model::IfIndex otherIndex = 7;
constexpr FlowPlace both{.comes = true, .leaves = true};

/// Where packets pass rules.
struct Ruled : World {
    Ruled() {
        bridge().ip.forwarding4 = true;
        wishes.learning = true;
    }
    /// Has such ports alone.
    void routeOnly(std::initializer_list<model::IfIndex> ports) {
        network.links.clear();
        for (const auto ifindex : ports)
            route(ifindex);
    }
    /// A port of no bridge.
    void route(model::IfIndex ifindex) {
        auto& link = network.links[ifindex] = like_;
        link.ifindex = ifindex;
        link.name = "eth" + std::to_string(ifindex);
        link.bridgePort.reset();
        link.master = 0;
        link.flags = model::link_flag::up;
        link.ip.forwarding4 = true;
        link.addresses = {{4, "10.0.0.1/24", "global"}};
        capabilities.devices[ifindex] = {.native = true, .redirectTarget = true, .frags = false};
    }
    /// The bridge has an address.
    void routeByBridge() {
        bridge().flags = model::link_flag::up;
        bridge().ip.forwarding4 = true;
        bridge().addresses = {{4, "10.1.0.1/24", "global"}};
    }
    void addPort(model::IfIndex ifindex) {
        auto& link = network.links[ifindex] = port();
        link.ifindex = ifindex;
        capabilities.devices[ifindex] = {.native = true, .redirectTarget = true, .frags = false};
    }
    void addVlanDevice(model::IfIndex on) {
        auto& vlan = above();
        vlan.lower = on;
        vlan.name = "vlan";
        vlan.kind = "vlan";
        vlan.vlan.emplace();
        vlan.flags = model::link_flag::up;
        vlan.ip.forwarding4 = true;
        vlan.addresses = {{4, "10.2.0.1/24", "global"}};
    }
    [[nodiscard]] Plan whole() const { return assemble(network, capabilities, wishes); }
    [[nodiscard]] FlowPlaces places() const { return whole().wide.flowPlaces; }

private:
    model::Link like_ = port();
};

TEST(FlowPlaces, AreRoutedPorts) {
    Ruled router;
    router.routeOnly({portIndex, otherIndex});
    EXPECT_EQ(router.places(), (FlowPlaces{{portIndex, both}, {otherIndex, both}}));
    EXPECT_TRUE(router.whole().ports.at(portIndex).profile->rules);
}

/// Whoever ends all connections that come by its only port gains nothing.
TEST(FlowPlaces, AreNotThereWithoutAnother) {
    Ruled router;
    router.routeOnly({portIndex});
    EXPECT_EQ(router.places(), FlowPlaces{});
    EXPECT_FALSE(router.whole().ports.at(portIndex).profile->rules);
}

TEST(FlowPlaces, AreNotThereUnlessAskedFor) {
    Ruled router;
    router.routeOnly({portIndex, otherIndex});
    router.wishes.learning = false;
    EXPECT_EQ(router.places(), FlowPlaces{});
}

TEST(FlowPlaces, OfAPortThatIsLinuxsAreToLeaveBy) {
    Ruled router;
    router.routeOnly({portIndex, otherIndex, otherIndex + 1});
    router.wishes.excluded[otherIndex + 1] = {"excluded-kind", "by the configuration", {}};
    EXPECT_EQ(router.places().at(otherIndex + 1), (FlowPlace{.comes = false, .leaves = true}));
    router.wishes.excluded[otherIndex] = {"excluded-kind", "by the configuration", {}};
    EXPECT_EQ(router.places(), FlowPlaces{}) << "one is left that packets come by";
}

TEST(FlowPlaces, AreVlanDevicesOfOnePort) {
    Ruled router;
    router.routeOnly({portIndex});
    router.addVlanDevice(portIndex);
    EXPECT_EQ(router.places(), (FlowPlaces{{portIndex, both}, {aboveIndex, both}}));
}

TEST(FlowPlaces, AreABridgeAndARoutedPort) {
    Ruled router;
    router.routeByBridge();
    router.route(otherIndex);
    EXPECT_EQ(router.places(), (FlowPlaces{{bridgeIndex, both}, {portIndex, both}, {otherIndex, both}}));
}

TEST(FlowPlaces, AreNotABridgeAlone) {
    Ruled router;
    router.routeByBridge();
    router.addPort(otherIndex);
    EXPECT_EQ(router.places(), FlowPlaces{});
}

TEST(FlowPlaces, ArePortsOfABridgeThatMayHaveRulesCalled) {
    Ruled router;
    router.capabilities.brNetfilter = true;
    EXPECT_EQ(router.places(), FlowPlaces{});
    router.addPort(otherIndex);
    EXPECT_EQ(router.places(), (FlowPlaces{{bridgeIndex, both}, {portIndex, both}, {otherIndex, both}}));
    router.bridge().bridge->vlanFiltering = true;
    EXPECT_EQ(router.places(), FlowPlaces{});
}

} // namespace
} // namespace tna::assemble
