// SPDX-License-Identifier: Apache-2.0
// What is made of profiles by the manifests of their modules.
#include "world.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tna::assemble {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr CacheSizes sizes{.flowsPerCpu = 4, .flows = 9, .destinationLines = 2, .destinationLinesTotal = 6};

std::uint64_t valueOf(const Profile& profile, tna_constant constant) {
    const auto values = constantsOf(profile, sizes);
    const auto it = std::ranges::find(values, constant, &ConstantValue::constant);
    return it == values.end() ? 0 : it->value;
}

std::vector<std::string> cacheNames(const Profile& profile) {
    std::vector<std::string> names;
    for (const auto& cache : cachesOf(profile, sizes))
        names.push_back(cache.name);
    return names;
}

TEST(Manifests, AreToldApartByNameConstantAndBit) {
    std::set<std::string> names;
    std::set<unsigned> constants;
    unsigned bits = 0;
    for (const auto& manifest : manifests()) {
        EXPECT_TRUE(names.insert(manifest.name).second) << manifest.name;
        EXPECT_TRUE(constants.insert(manifest.constant).second) << manifest.name;
        EXPECT_EQ(bits & manifest.checked, 0U) << manifest.name;
        EXPECT_FALSE(manifest.hooks.empty()) << manifest.name;
        bits |= manifest.checked;
    }
}

TEST(Manifests, SetEachConstantOnce) {
    const Profile all{.modules = {bridgeModule({.vlanProtocol = 0x8100}), routeModule({.bridges = true})},
                      .veth = true,
                      .custom = {{TNA_HOOK_BRIDGE, {"one"}}, {TNA_HOOK_ROUTE, {"two"}}}};
    std::set<unsigned> seen;
    for (const auto& [constant, value] : constantsOf(all, sizes))
        EXPECT_TRUE(seen.insert(constant).second) << constant;
}

TEST(Manifests, OnlyModulesOfTheProfileAreInTheProgram) {
    const Profile bridge{.modules = {bridgeModule()}};
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_BRIDGE), 1U);
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_ROUTE), 0U);
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_VLAN), 0U);
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_FLOWS_TOTAL), 9U);
    EXPECT_THAT(cacheNames(bridge), IsEmpty());
}

TEST(Manifests, ProtocolOfTagsIsInNetworkOrder) {
    const Profile filtering{.modules = {bridgeModule({.vlanProtocol = 0x88a8})}};
    const std::uint16_t protocol = 0x88a8;
    EXPECT_EQ(valueOf(filtering, TNA_CONSTANT_VLAN), __builtin_bswap16(protocol));
    EXPECT_THAT(cacheNames(filtering), ElementsAre("flow_vlans"));
}

TEST(Manifests, RoutesHaveCachesThatTheControllerCounts) {
    const auto caches = cachesOf({.modules = {routeModule()}}, sizes);
    ASSERT_EQ(caches.size(), 2U);
    EXPECT_EQ(caches[0].bytes, 9 * sizeof(tna_route));
    EXPECT_EQ(caches[0].counting, Counting::routes);
    EXPECT_EQ(caches[1].bytes, 5 * sizeof(tna_route6)) << "half as many, rounded up";
    EXPECT_EQ(caches[1].counting, Counting::routes6);
}

TEST(Manifests, DestinationsAreRememberedOnlyWhereRoutesAreMany) {
    const Profile few{.modules = {routeModule()}};
    const Profile many{.modules = {routeModule({.vlanDevices = true, .manyRoutes = true})}};
    EXPECT_EQ(valueOf(few, TNA_CONSTANT_DESTINATION_LINES), 0U);
    EXPECT_EQ(valueOf(many, TNA_CONSTANT_DESTINATION_LINES), 2U);
    EXPECT_THAT(cacheNames(many), UnorderedElementsAre("routes", "routes6", "route_stacks", "destinations"));
}

TEST(Manifests, CustomModulesAreToldOfOneTagOnly) {
    Profile stacks{.modules = {routeModule({.vlanDevices = true, .vlanStacks = true})}};
    EXPECT_EQ(valueOf(stacks, TNA_CONSTANT_VLAN_STACKS), 1U);
    stacks.custom.add(TNA_HOOK_ROUTE, "one");
    EXPECT_EQ(valueOf(stacks, TNA_CONSTANT_VLAN_STACKS), 0U);
}

TEST(Manifests, CustomModulesAreBehindTheDecisionsOfTheProfilesModules) {
    Profile bridge{.modules = {bridgeModule()}, .custom = {{TNA_HOOK_INGRESS, {"one"}}}};
    EXPECT_THAT(customHooksOf(bridge), IsEmpty());
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_MODULES), 0U);
    bridge.custom.add(TNA_HOOK_BRIDGE, "two");
    bridge.custom.add(TNA_HOOK_ROUTE, "three");
    ASSERT_EQ(customHooksOf(bridge).size(), 1U);
    EXPECT_EQ(customHooksOf(bridge).front().hook, TNA_HOOK_BRIDGE);
    EXPECT_THAT(constantsOf(bridge, sizes), Contains(ConstantValue{TNA_CONSTANT_MODULES_BRIDGE, 1}));
    EXPECT_EQ(valueOf(bridge, TNA_CONSTANT_MODULES_ROUTE), 0U);
}

TEST(Presumed, ChangesWithWhatFlowsCannotSee) {
    using Change = void (*)(World&);
    for (const auto& [module, change] :
         {std::pair{"bridge", Change{[](World& world) { world.bridge().bridge->ageingTime++; }}},
          std::pair{"bridge", Change{[](World& world) { world.bridge().bridge->topologyChange = true; }}},
          std::pair{"route", Change{[](World& world) { world.port().ip.ignoreRoutesWithLinkDown = true; }}},
          std::pair{"route", Change{[](World& world) {
                        world.network.sysctls["net.ipv4.conf.all.ignore_routes_with_linkdown"] = "1";
                    }}}}) {
        World world;
        world.network.sysctls["net.ipv4.conf.all.ignore_routes_with_linkdown"] = "0";
        const auto before = presumedIn(world.network);
        change(world);
        const auto after = presumedIn(world.network);
        for (const auto& manifest : manifests())
            EXPECT_EQ(before.at(manifest.name) != after.at(manifest.name),
                      manifest.name == std::string(module));
    }
}

TEST(Presumed, IsTheSameWhateverElseChanges) {
    World world;
    const auto before = presumedIn(world.network);
    world.port().mtu = 9000;
    world.port().bridgePort->isolated = true;
    EXPECT_EQ(presumedIn(world.network), before);
}

TEST(GuardWords, NameEachGuardOnce) {
    std::set<std::string> names;
    for (const auto& guard : guardWords())
        EXPECT_TRUE(names.insert(guard.name).second) << guard.name;
    EXPECT_TRUE(names.contains("bridge") && names.contains("route") && names.contains("namespace"));
}

TEST(Benchmarks, MeasureEachModuleOnMachinesWithBrNetfilterAndWithout) {
    for (const bool brNetfilter : {false, true}) {
        const auto all = allBenchmarks(brNetfilter);
        for (const auto& manifest : manifests())
            EXPECT_TRUE(std::ranges::any_of(
                all, [&](const Benchmark& one) { return one.profile.module(manifest.name) != nullptr; }));
    }
}

TEST(Parameters, ComeBackAsTheyWereGiven) {
    const RouteParameters given{
        .bridges = true, .vlanStacks = true, .manyRoutes = true, .station = {.bytes = {2, 0, 0, 0, 0, 9}}};
    const auto back = routeParameters(routeModule(given));
    EXPECT_EQ(std::tuple(back.bridges, back.vlanDevices, back.vlanStacks, back.bridgeVlans, back.manyRoutes),
              std::tuple(true, false, true, false, true));
    EXPECT_EQ(back.station, given.station);
    EXPECT_EQ(bridgeParameters(bridgeModule({.vlanProtocol = 0x8100})).vlanProtocol, 0x8100);
    EXPECT_EQ(routeModule(), routeModule({.bridges = false})) << "what is 0 makes no difference";
}

} // namespace
} // namespace tna::assemble
