// SPDX-License-Identifier: Apache-2.0
// The proof of reading in place: any difference from netlink is found.
#include "capability/fdb_proof.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/neighbour.h>

namespace tna::capability {
namespace {

constexpr model::MacAddress learnt{{2, 0, 0, 0, 0, 1}};
constexpr model::MacAddress own{{2, 0, 0, 0, 0, 9}};

/// Answers like a kernel whose layout is understood; each test spoils one answer.
struct Kernel : InPlaceReader {
    deploy::PortFacts port{.flags = 1U << 5U | 1U << 6U, .bridgeOptions = 0, .state = 3};
    std::map<model::MacAddress, deploy::EntryFacts> entries{{learnt, {0, 2}}, {own, {1, 2}}};

    Result<deploy::PortFacts> readPort(model::IfIndex) override { return port; }
    Result<std::optional<deploy::EntryFacts>> readEntry(model::IfIndex, const model::MacAddress& mac,
                                                        std::uint16_t) override {
        const auto it = entries.find(mac);
        return it == entries.end() ? std::nullopt : std::optional(it->second);
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

} // namespace
} // namespace tna::capability
