// SPDX-License-Identifier: Apache-2.0
// At which hook a card is, by what else there is.
#include "containers.hpp"

#include <functional>

namespace tna::assemble {
namespace {

TEST(Hooks, CardBesideContainersIsWhereTheyAre) {
    EXPECT_EQ(ContainersAndCard().hookOfCard(), Hook::tcx);
}

/// It can be nowhere else; without others there, nobody asked for it.
TEST(Hooks, BondBesideContainersIsWhereTheyAre) {
    ContainersAndCard host;
    host.card().kind = host.card().driver = "bond";
    host.card().lower = 0;
    host.capabilities.devices.clear();
    EXPECT_EQ(host.hookOfCard(), Hook::tcx);
    EXPECT_TRUE(assemble(host.network, host.capabilities, host.wishes).ports.at(9).profile);
    host.wishes.excluded[9] = {"excluded-name", "by the configuration", {}};
    EXPECT_EQ(host.hookOfCard(), Hook::xdp);
    host.wishes.excluded.clear();
    host.wishes.atTcx.clear();
    EXPECT_EQ(host.hookOfCard(), Hook::xdp);
}

struct WithAnother {
    const char* name;
    std::function<void(ContainersAndCard&)> change;
};
void PrintTo(const WithAnother& row, std::ostream* out) {
    *out << row.name;
}

class CardAtXdp : public ::testing::TestWithParam<WithAnother> {};

TEST_P(CardAtXdp, IfItMayForwardThereOrCannotBeElsewhere) {
    ContainersAndCard world;
    GetParam().change(world);
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
}

INSTANTIATE_TEST_SUITE_P(
    , CardAtXdp,
    ::testing::Values(
        WithAnother{"AnotherCard",
                    [](ContainersAndCard& w) {
                        w.network.links[10] = w.card();
                        w.network.links[10].ifindex = 10;
                        w.capabilities.devices[10] = w.capabilities.devices[9];
                    }},
        WithAnother{"VlansOnIt",
                    [](ContainersAndCard& w) {
                        w.routeByCard();
                        w.card().addresses.clear();
                        w.addVlans(9, {10, 11});
                    }},
        WithAnother{"VlanBesideItsOwnNetwork",
                    [](ContainersAndCard& w) {
                        w.routeByCard();
                        w.addVlans(9, {10});
                    }},
        WithAnother{"VlansOnItsBridge", [](ContainersAndCard& w) { w.addVlans(bridgeIndex, {10, 11}); }},
        WithAnother{"PortOfASwitch", [](ContainersAndCard& w) { w.card().switchPort = true; }},
        WithAnother{"UnknownDriver", [](ContainersAndCard& w) { w.card().driver = "nobody"; }},
        WithAnother{"NoNativeXdp", [](ContainersAndCard& w) { w.capabilities.devices[9].native = false; }},
        WithAnother{"CustomModules",
                    [](ContainersAndCard& w) { w.wishes.custom[9].add(TNA_HOOK_BRIDGE, "a"); }},
        WithAnother{"SteeredFrames", [](ContainersAndCard& w) { w.wishes.steered[9] = "steering"; }},
        WithAnother{"NoContainers", [](ContainersAndCard& w) { w.wishes.atTcx = {77}; }},
        WithAnother{"KernelWithoutTcx", [](ContainersAndCard& w) { w.capabilities.tcx.available = false; }},
        WithAnother{"NothingIsReadInPlace",
                    [](ContainersAndCard& w) { w.capabilities.way = capability::Way::watched; }}),
    [](const auto& row) { return std::string(row.param.name); });

/// It does not change hooks as they come and go.
TEST(Hooks, CardThatIsAloneIsWhereContainersWouldBe) {
    ContainersAndCard world;
    world.wishes.atTcx = {77};
    world.network.links.erase(8);
    world.network.links.erase(portIndex);
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
    world.wishes.moreForTcx = true;
    EXPECT_EQ(world.hookOfCard(), Hook::tcx);
    EXPECT_TRUE(assemble(world.network, world.capabilities, world.wishes).ports.at(9).wouldMove);
    world.wishes.steered[9] = "steering";
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
    world.wishes.steered.clear();
    world.wishes.atTcx.insert(9);
    EXPECT_TRUE(assemble(world.network, world.capabilities, world.wishes).ports.at(9).wouldMove);
    world.wishes.atTcxByName.insert(9);
    EXPECT_FALSE(assemble(world.network, world.capabilities, world.wishes).ports.at(9).wouldMove);
    world.wishes.atTcx.erase(9);
    world.network.links[10] = world.card();
    world.network.links[10].ifindex = 10;
    world.capabilities.devices[10] = world.capabilities.devices[9];
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
}

/// Containers with a macvlan each, tunnels, the only VLAN that there is: they come and go, and the card
/// stays.
TEST(Hooks, WhatLiesOnACardIsNoReasonForXdp) {
    for (const char* kind : {"macvlan", "ipvlan", "vxlan", "vlan"}) {
        ContainersAndCard world;
        world.routeByCard();
        if (kind == std::string("vlan"))
            world.card().addresses.clear();
        world.addVlans(9, {10});
        auto& above = world.network.links.at(10);
        above.kind = kind;
        if (kind != std::string("vlan"))
            above.vlan.reset();
        EXPECT_EQ(world.hookOfCard(), Hook::tcx) << kind;
    }
    ContainersAndCard world;
    world.routeByCard();
    world.addVlans(9, {10});
    world.network.links.at(10).addresses.clear();
    EXPECT_EQ(world.hookOfCard(), Hook::tcx) << "nothing is routed by that VLAN";
}

TEST(Hooks, PortAtTcxThatRestsIsLinuxsButFramesLeaveByIt) {
    ContainersAndCard world;
    world.wishes.resting[8] = {"resting", "little is forwarded", {}};
    world.wishes.resting[9] = world.wishes.resting[8];
    auto plan = assemble(world.network, world.capabilities, world.wishes);
    EXPECT_FALSE(plan.ports.at(8).profile);
    EXPECT_EQ(plan.ports.at(8).reasons, std::vector{world.wishes.resting[8]});
    EXPECT_TRUE(plan.ports.at(8).tcxEgress);
    EXPECT_FALSE(plan.ports.at(8).standby);
    EXPECT_TRUE(plan.ports.at(portIndex).profile);
    EXPECT_EQ(plan.ports.at(9).hook, Hook::tcx) << "it does not change hooks for that";
    world.wishes.atTcx = {77}; // at XDP by now
    plan = assemble(world.network, world.capabilities, world.wishes);
    EXPECT_TRUE(plan.ports.at(9).profile);
}

/// What cannot be at XDP is no reason to be there.
TEST(Hooks, PortsThatAreNotForXdpAreNoMatterToACard) {
    using Change = std::function<void(ContainersAndCard&, model::Link&)>;
    for (const Change& change :
         {Change([](ContainersAndCard& w, model::Link&) {
              w.wishes.excluded[10] = {"excluded-name", "by the configuration", {}};
          }),
          Change([](ContainersAndCard& w, model::Link&) {
              w.wishes.excluded[10] = {"excluded-kind", "by the configuration", {}};
          }),
          Change([](ContainersAndCard&, model::Link& tunnel) { tunnel.ethernet = false; })}) {
        ContainersAndCard world;
        auto& other = world.network.links[10] = world.card();
        other.ifindex = 10;
        world.capabilities.devices[10] = world.capabilities.devices[9];
        EXPECT_EQ(world.hookOfCard(), Hook::xdp);
        change(world, other);
        EXPECT_EQ(world.hookOfCard(), Hook::tcx);
    }
}

TEST(Hooks, CardWithModulesForTcxIsThere) {
    ContainersAndCard world;
    world.wishes.custom[9].add(TNA_HOOK_INGRESS, "a");
    world.wishes.customAtTcx = {{"a", TNA_HOOK_INGRESS}};
    EXPECT_EQ(world.hookOfCard(), Hook::tcx);
    world.wishes.custom[9].add(TNA_HOOK_EGRESS, "a");
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
}

/// Cards whose drivers take frames at XDP, but send in another way what is redirected to them.
struct CardsThatOnlyTake : ContainersAndCard {
    CardsThatOnlyTake() {
        wishes.atTcx.clear();
        network.links.erase(portIndex);
        network.links.erase(8);
        card().driver = "mvneta";
        other() = card();
        other().ifindex = 10;
        capabilities.devices[10] = capabilities.devices[9];
    }
    model::Link& other() { return network.links[10]; }
    [[nodiscard]] PortPlan planOf(model::IfIndex ifindex) const {
        return assemble(network, capabilities, wishes).ports.at(ifindex);
    }
};

TEST(Hooks, CardsThatXdpDoesNotSendToAreAtTcx) {
    const CardsThatOnlyTake world;
    for (const model::IfIndex ifindex : {9U, 10U}) {
        EXPECT_EQ(world.planOf(ifindex).hook, Hook::tcx);
        EXPECT_TRUE(world.planOf(ifindex).profile);
    }
}

/// The other way XDP sends.
TEST(Hooks, CardBesideOneThatXdpDoesNotSendToIsAtBoth) {
    CardsThatOnlyTake world;
    world.other().driver = "ena";
    EXPECT_EQ(world.planOf(9).hook, Hook::xdp);
    EXPECT_FALSE(world.planOf(9).behind) << "what it takes is for the other one";
    EXPECT_EQ(world.planOf(10).hook, Hook::xdp);
    EXPECT_TRUE(world.planOf(10).behind);
    EXPECT_EQ(world.planOf(10).hookWhy, "what goes to ports that XDP does not send to is seen at tcx");
    world.addVlans(bridgeIndex, {11, 12});
    EXPECT_TRUE(world.planOf(9).behind) << "from one VLAN to another one";
}

TEST(Hooks, CardBesideOneThatHasRefusedFramesIsAtBoth) {
    CardsThatOnlyTake world;
    world.card().driver = world.other().driver = "ena";
    EXPECT_FALSE(world.planOf(9).behind || world.planOf(10).behind);
    world.wishes.refused[10] = {"egress-refused", "its driver has refused frames", {}};
    EXPECT_EQ(world.planOf(9).hook, Hook::xdp);
    EXPECT_TRUE(world.planOf(9).behind);
    EXPECT_FALSE(world.planOf(10).behind);
}

TEST(Hooks, WithoutTcxCardsAreAtXdp) {
    CardsThatOnlyTake world;
    world.capabilities.tcx.available = false;
    EXPECT_EQ(world.planOf(9).hook, Hook::xdp);
    world.other().driver = "ena";
    EXPECT_FALSE(world.planOf(10).behind);
}

/// Custom modules are at XDP, and would miss what is forwarded at tcx.
TEST(Hooks, CardsWithModulesAreAtXdpOnly) {
    for (const bool steered : {false, true}) {
        ContainersAndCard world;
        auto& other = world.network.links[10] = world.card();
        other.ifindex = 10;
        world.capabilities.devices[10] = world.capabilities.devices[9];
        const auto behind = [&] {
            return assemble(world.network, world.capabilities, world.wishes).ports.at(9).behind.has_value();
        };
        EXPECT_TRUE(behind());
        if (steered)
            world.wishes.steered[9] = "s";
        else
            world.wishes.custom[9].add(TNA_HOOK_INGRESS, "a");
        EXPECT_FALSE(behind());
    }
}

} // namespace
} // namespace tna::assemble
