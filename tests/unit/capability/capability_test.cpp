// SPDX-License-Identifier: Apache-2.0
// The proof of reading in place: any difference from netlink is found.
#include "capability/vlan_proof.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/neighbour.h>

namespace tna::capability {
namespace {

constexpr model::MacAddress learnt{{2, 0, 0, 0, 0, 1}};
constexpr model::MacAddress own{{2, 0, 0, 0, 0, 9}};

constexpr unsigned untagged = 1U << 2U; // BRIDGE_VLAN_INFO_UNTAGGED

/// Answers like a kernel whose layout is understood; each test spoils one answer.
struct Kernel : InPlaceReader {
    capability::PortFacts port{.flags = 1U << 5U | 1U << 6U, .bridgeOptions = 0, .state = 3};
    std::map<model::MacAddress, capability::EntryFacts> entries{{learnt, {0, 2}}, {own, {1, 2}}};

    Result<capability::PortFacts> readPort(model::IfIndex) override { return port; }
    Result<std::optional<capability::EntryFacts>> readEntry(model::IfIndex, const model::MacAddress& mac,
                                                            std::uint16_t) override {
        const auto it = entries.find(mac);
        return it == entries.end() ? std::nullopt : std::optional(it->second);
    }
    std::map<std::uint16_t, capability::VlanFacts> vlans{{0, {true, false, 0, 0, 1, 0x8100}},
                                                         {1, {true, true, untagged, 3, 1, 0x8100}},
                                                         {10, {true, true, 0, 4, 1, 0x8100}}};
    Result<capability::VlanFacts> readVlan(model::IfIndex, std::uint16_t vid) override {
        return vlans.at(vlans.contains(vid) ? vid : 0);
    }
};

model::Network network() {
    model::Link bridge;
    bridge.ifindex = 1;
    bridge.name = "br0";
    bridge.bridge.emplace();
    model::Link port;
    port.ifindex = 2;
    port.name = "p0";
    port.master = 1;
    port.bridgePort.emplace();
    port.bridgePort->state = model::StpState::forwarding;
    port.bridgePort->vlans = {{1, true, true, model::StpState::forwarding},
                              {10, false, false, model::StpState::blocking}};
    model::Network network;
    network.links = {{1, bridge}, {2, port}};
    return network;
}

std::vector<model::FdbEntry> dump() {
    return {{learnt, 0, NUD_REACHABLE, 0, 2, 1}, {own, 0, NUD_PERMANENT, 0, 2, 1}};
}

TEST(FdbProof, SucceedsWhenAllIsAlike) {
    Kernel kernel;
    const auto finding = proveInPlaceFdb(kernel, network(), dump());
    EXPECT_TRUE(finding.available) << finding.detail;
}

TEST(FdbProof, NeedsSomethingToCompare) {
    Kernel kernel;
    EXPECT_FALSE(proveInPlaceFdb(kernel, {}, {}).available);
    EXPECT_FALSE(proveInPlaceFdb(kernel, network(), {}).available);
    EXPECT_FALSE(proveInPlaceFdb(kernel, network(), {}).disproved);
}

struct Spoilt {
    const char* name;
    std::function<void(Kernel&)> spoil;
    const char* says;
};
void PrintTo(const Spoilt& spoilt, std::ostream* out) {
    *out << spoilt.name;
}
class Difference : public ::testing::TestWithParam<Spoilt> {};

TEST_P(Difference, IsFoundAndNamed) {
    Kernel kernel;
    GetParam().spoil(kernel);
    const auto finding = proveInPlaceFdb(kernel, network(), dump());
    EXPECT_FALSE(finding.available);
    EXPECT_TRUE(finding.disproved);
    EXPECT_THAT(finding.detail, ::testing::HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, Difference,
    ::testing::Values(
        Spoilt{"OtherHash", [](Kernel& k) { k.entries.clear(); }, "02:00:00:00:00:01 is not found"},
        Spoilt{"OtherPort", [](Kernel& k) { k.entries[learnt].port = 3; }, "02:00:00:00:00:01 reads"},
        Spoilt{"LocalBit", [](Kernel& k) { k.entries[own].flags = 0; }, "02:00:00:00:00:09 reads"},
        Spoilt{"PortState", [](Kernel& k) { k.port.state = 4; }, "state of port p0"},
        Spoilt{"PortFlags", [](Kernel& k) { k.port.flags = 0; }, "'learning' of port p0"},
        Spoilt{"BridgeOptions", [](Kernel& k) { k.port.bridgeOptions = 1; }, "options of the bridge"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(VlanProof, SucceedsWhenAllIsAlike) {
    Kernel kernel;
    const auto finding = proveInPlaceVlans(kernel, network());
    EXPECT_TRUE(finding.available) << finding.detail;
}

TEST(VlanProof, NeedsSomethingToCompare) {
    Kernel kernel;
    kernel.vlans = {{0, {true, false, 0, 0, 0, 0x8100}}};
    auto without = network();
    without.links.at(2).bridgePort->vlans.clear();
    EXPECT_FALSE(proveInPlaceVlans(kernel, without).available);
}

class VlanDifference : public ::testing::TestWithParam<Spoilt> {};

TEST_P(VlanDifference, IsFoundAndNamed) {
    Kernel kernel;
    GetParam().spoil(kernel);
    const auto finding = proveInPlaceVlans(kernel, network());
    EXPECT_FALSE(finding.available);
    EXPECT_THAT(finding.detail, ::testing::HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, VlanDifference,
    ::testing::Values(
        Spoilt{"OtherHash", [](Kernel& k) { k.vlans[1] = k.vlans[0]; }, "VLAN 1 of port p0 is not found"},
        Spoilt{"FoundWhereNoneIs", [](Kernel& k) { k.vlans[0].found = true; }, "VLAN 2 is found"},
        Spoilt{"Untagged", [](Kernel& k) { k.vlans[1].flags = 0; }, "VLAN 1 of port p0 reads"},
        Spoilt{"State", [](Kernel& k) { k.vlans[10].state = 3; }, "VLAN 10 of port p0 reads"},
        Spoilt{"Pvid", [](Kernel& k) { k.vlans[0].pvid = 2; }, "PVID of port p0"},
        Spoilt{"Protocol", [](Kernel& k) { k.vlans[0].protocol = 0x88a8; }, "VLAN protocol of the bridge"},
        Spoilt{"KernelWithout", [](Kernel& k) { k.vlans[0].known = false; }, "know no VLANs"}),
    [](const auto& parameter) { return parameter.param.name; });

} // namespace
} // namespace tna::capability
