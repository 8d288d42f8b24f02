// SPDX-License-Identifier: Apache-2.0
// At which hook a port's frames are seen, and what each hook has of a plan.
#include "assemble/hooks.hpp"
#include "world.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

/// The port of a container.
struct Container : World {
    Container() {
        port().kind = port().driver = "veth";
        capabilities.tcx = {true, "it is there"};
        wishes.atTcx = {portIndex};
    }
};

TEST(Hooks, PortOfAKindForTcxHasItsProfileThere) {
    const auto plan = Container().plan();
    ASSERT_TRUE(plan.profile) << plan.reasons.front().text;
    EXPECT_EQ(plan.hook, Hook::tcx);
    EXPECT_EQ(plan.profile->hook, Hook::tcx);
    EXPECT_EQ(plan.profile->name(), "bridge+tcx");
    EXPECT_FALSE(plan.profile->veth) << "nothing that a sender has left undone is in the way there";
}

TEST(Hooks, FramesLeaveByItFromTcxOnly) {
    const auto plan = Container().plan();
    EXPECT_FALSE(plan.egress);
    EXPECT_TRUE(plan.tcxEgress);
}

TEST(Hooks, FramesLeaveByAPortOfXdpFromBoth) {
    const auto plan = World().plan();
    EXPECT_EQ(plan.hook, Hook::xdp);
    EXPECT_TRUE(plan.egress);
    EXPECT_TRUE(plan.tcxEgress);
}

/// Linux itself sends there: no driver is asked for anything new.
TEST(Hooks, WhatADriverCanDoIsNoMatterAtTcx) {
    Container container;
    container.port().kind = "tun";
    container.capabilities.devices.clear();
    container.port().vlanRxOffload = true;
    container.port().xdp.driverProgram = 7;
    container.wishes.refused[portIndex] = {"egress-refused", "it has refused", {}};
    const auto plan = container.plan();
    EXPECT_TRUE(plan.profile);
    EXPECT_TRUE(plan.tcxEgress);
}

TEST(Hooks, WhatIsLearntOfRulesHoldsThereAsWell) {
    Container container;
    container.port().bridgePort.reset();
    container.port().master = 0;
    container.port().flags |= model::link_flag::up;
    container.port().addresses = {{.family = 4}};
    container.port().ip.forwarding4 = true;
    auto& other = container.network.links[9] = container.port();
    other.ifindex = 9;
    container.wishes.atTcx.insert(9);
    container.wishes.learning = true;
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile) << plan.reasons.front().text;
    EXPECT_EQ(plan.profile->name(), "route+rules+tcx");
}

struct Against {
    const char* name;
    std::function<void(Container&)> change;
    std::string code;
};
void PrintTo(const Against& against, std::ostream* out) {
    *out << against.name;
}

class AgainstTcx : public ::testing::TestWithParam<Against> {};

TEST_P(AgainstTcx, IsSaid) {
    Container container;
    GetParam().change(container);
    const auto plan = container.plan();
    EXPECT_FALSE(plan.profile);
    ASSERT_FALSE(plan.reasons.empty());
    EXPECT_EQ(plan.reasons.front().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    , AgainstTcx,
    ::testing::Values(
        Against{"KernelWithoutTcx", [](Container& c) { c.capabilities.tcx = {false, "it is not there"}; },
                "no-tcx"},
        Against{"NothingIsReadInPlace", [](Container& c) { c.capabilities.way = capability::Way::watched; },
                "no-tcx"},
        Against{"NotEthernet", [](Container& c) { c.port().ethernet = false; }, "not-ethernet"},
        Against{"PortOfASwitch", [](Container& c) { c.port().switchPort = true; }, "switchdev"},
        Against{"ConduitOfASwitch", [](Container& c) { c.above().switchPort = true; }, "switch-conduit"},
        Against{"FaceOfOthers", [](Container& c) { c.port().kind = "macvlan"; }, "stacked"},
        Against{"CustomModules", [](Container& c) { c.wishes.custom[portIndex].add(TNA_HOOK_BRIDGE, "a"); },
                "custom-modules"},
        Against{"Excluded",
                [](Container& c) {
                    c.wishes.excluded[portIndex] = {"excluded-kind", "by the configuration", {}};
                },
                "excluded-kind"}),
    [](const auto& row) { return std::string(row.param.name); });

/// The ports of containers, and a card.
struct ContainersAndCard : Container {
    ContainersAndCard() {
        for (const model::IfIndex more : {8U, 9U}) {
            network.links[more] = port();
            network.links[more].ifindex = more;
        }
        wishes.atTcx.insert(8);
        card().kind.clear();
        card().driver = "ena";
        capabilities.devices[9] = {.native = true, .redirectTarget = true, .frags = false};
    }
    model::Link& card() { return network.links.at(9); }
    [[nodiscard]] Hook hookOfCard() const {
        const auto plan = assemble(network, capabilities, wishes).ports.at(9);
        EXPECT_EQ(plan.hookWhy.empty(), plan.hook == Hook::xdp && !plan.behind);
        return plan.hook;
    }
};

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
        WithAnother{"VlanOnIt",
                    [](ContainersAndCard& w) {
                        auto& vlan = w.network.links[10];
                        vlan.ifindex = 10;
                        vlan.lower = 9;
                        vlan.vlan.emplace();
                    }},
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
    world.network.links[10] = world.card();
    world.network.links[10].ifindex = 10;
    world.capabilities.devices[10] = world.capabilities.devices[9];
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
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

TEST(Hooks, NothingLeavesFromTcxByAPortWithModulesAtEgress) {
    World world;
    world.wishes.custom[portIndex].add(TNA_HOOK_EGRESS, "a");
    const auto plan = world.plan();
    EXPECT_TRUE(plan.egress);
    EXPECT_FALSE(plan.tcxEgress);
}

TEST(Hooks, CustomModulesForTcxAreThere) {
    Container container;
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "a#1");
    EXPECT_EQ(container.plan().reasons.at(0).text,
              "it is for tcx, and the custom module a is for ports at XDP only");
    container.wishes.customAtTcx = {{"a#1", TNA_HOOK_BRIDGE}, {"b#1", TNA_HOOK_INGRESS}};
    EXPECT_FALSE(container.plan().profile) << "what another hook or module has does not count";
    container.wishes.customAtTcx.emplace("a#1", TNA_HOOK_INGRESS);
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->hook, Hook::tcx);
    EXPECT_EQ(plan.profile->custom.at(TNA_HOOK_INGRESS), std::vector<std::string>{"a#1"});
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "c#1");
    EXPECT_FALSE(container.plan().profile) << "all of them, or none";
}

/// It needs AF_XDP, and is in the way of nothing.
TEST(Hooks, WhatSteersIsNotAtTcx) {
    Container container;
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "a#1");
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "@functions");
    container.wishes.steered[portIndex] = "@functions";
    container.wishes.customAtTcx = {{"a#1", TNA_HOOK_INGRESS}};
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->custom.at(TNA_HOOK_INGRESS), std::vector<std::string>{"a#1"});
}

TEST(Hooks, CardWithModulesForTcxIsThere) {
    ContainersAndCard world;
    world.wishes.custom[9].add(TNA_HOOK_INGRESS, "a");
    world.wishes.customAtTcx = {{"a", TNA_HOOK_INGRESS}};
    EXPECT_EQ(world.hookOfCard(), Hook::tcx);
    world.wishes.custom[9].add(TNA_HOOK_EGRESS, "a");
    EXPECT_EQ(world.hookOfCard(), Hook::xdp);
}

/// Frames that a program has redirected bear a mark, which devices below would see.
TEST(Hooks, NothingLeavesFromTcxByADeviceOnTopOfOthers) {
    World world;
    world.port().kind = "ifb";
    EXPECT_FALSE(world.plan().tcxEgress);
}

TEST(Hooks, NothingLeavesFromTcxByAPortThatIsExcludedByName) {
    World world;
    world.wishes.excluded[portIndex] = {"excluded-name", "by the configuration", {}};
    EXPECT_FALSE(world.plan().tcxEgress);
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
    void putVlanOn(model::IfIndex lower) {
        auto& vlan = network.links[11];
        vlan.ifindex = 11;
        vlan.lower = lower;
        vlan.vlan.emplace();
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
    world.putVlanOn(9);
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

TEST(Hooks, EachHookHasItsPartOfAPlan) {
    Container container;
    auto& other = container.network.links[9] = container.port();
    other.ifindex = 9;
    other.kind.clear();
    other.driver = "bnxt_en"; // which takes nothing that is short, at XDP
    container.capabilities.devices[9] = {.native = true, .redirectTarget = true, .frags = false};
    container.network.links[10] = other;
    container.network.links[10].ifindex = 10;
    container.capabilities.devices[10] = container.capabilities.devices[9];
    const auto plan = assemble(container.network, container.capabilities, container.wishes);
    const auto xdp = partAt(Hook::xdp, plan), tcx = partAt(Hook::tcx, plan);
    EXPECT_FALSE(xdp.ports.at(portIndex).profile);
    EXPECT_FALSE(xdp.ports.at(portIndex).egress);
    ASSERT_TRUE(xdp.ports.at(9).profile);
    EXPECT_TRUE(xdp.ports.at(9).profile->tcxBehind);
    EXPECT_STREQ(nameOfHooks(plan.ports.at(9)), "xdp-native+tcx");
    EXPECT_EQ(xdp.ports.at(9).shortest, 52U);
    EXPECT_TRUE(tcx.ports.at(portIndex).profile);
    ASSERT_TRUE(tcx.ports.at(9).profile);
    EXPECT_EQ(tcx.ports.at(9).profile->hook, Hook::tcx);
    EXPECT_TRUE(tcx.ports.at(9).egress);
    EXPECT_EQ(tcx.ports.at(9).shortest, 0U);
    EXPECT_TRUE(anyProfile(tcx));
    EXPECT_FALSE(anyProfile(partAt(Hook::tcx, Plan{})));
}

} // namespace
} // namespace tna::assemble
