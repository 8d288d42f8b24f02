// SPDX-License-Identifier: Apache-2.0
// Some random configurations of each kind, with the packets that tna-diff sends. More of them: TNA_TEST_SEEDS
// in the environment says how many, TNA_TEST_PACKETS how many packets for each.
#include "diff/random/machine.hpp"
#include "diff/random/random_case.hpp"
#include "diff/report.hpp"
#include "support/kernel.hpp"
#include "support/namespace.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace tna::test {
namespace {

using diff::Kind;

std::size_t wanted(const char* variable, std::size_t usual) {
    const char* text = std::getenv(variable);
    return text == nullptr ? usual : std::strtoul(text, nullptr, 10);
}

/// What is fast at least, in percent of the packets: of a seed that must show it, and of all seeds of a kind,
/// if there are so many; what is missing was sent into rules that are not steady, or to a port that is down.
struct Least {
    Kind kind;
    unsigned seed, ofSeed;
    unsigned ofAll, outOf;
};
constexpr Least leasts[] = {
    {Kind::bridge, 1, 10, 10, 1}, {Kind::router, 1, 10, 10, 1},         {Kind::routedBridge, 1, 10, 10, 1},
    {Kind::tables, 3, 10, 10, 1}, {Kind::routeOptions, 1, 10, 10, 4},   {Kind::qdisc, 1, 10, 10, 1},
    {Kind::sysctl, 1, 10, 10, 1}, {Kind::links, 1, 10, 10, 1},          {Kind::firewall, 1, 10, 8, 4},
    {Kind::nat, 1, 10, 5, 4},     {Kind::bridgedFirewall, 1, 10, 5, 4}, {Kind::containers, 1, 0, 3, 4},
};

class Equivalence : public ::testing::TestWithParam<unsigned> {
protected:
    static void SetUpTestSuite() {
        spdlog::set_level(spdlog::level::warn);
        totals = {};
        kindsLeast = nullptr;
    }
    static void TearDownTestSuite() {
        if (totals.packets == 0)
            return;
        if (kindsLeast != nullptr && totals.configurations >= kindsLeast->outOf) {
            EXPECT_GE(totals.figures.fast * 100, totals.packets * kindsLeast->ofAll)
                << "the fast path was hardly used";
        }
        EXPECT_GE(totals.figures.slow * 20, totals.packets) << "Linux was hardly used";
    }
    static inline diff::Totals totals; ///< of this kind
    static inline const Least* kindsLeast = nullptr;

    static void play(Kind kind, const char* name, std::size_t usual) {
        if (const auto why = cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        const auto packets = wanted("TNA_TEST_PACKETS", usual);
        const auto stage = diff::Stage::make();
        ASSERT_TRUE(stage) << stage.error().sentence();
        const auto outcome = stage->play(diff::randomCase(GetParam(), packets, kind),
                                         {.fdb = wantedFdb(), .hook = wantedHook(), .keep = false});
        ASSERT_TRUE(outcome) << outcome.error().sentence();
        if (!outcome->impossible.empty())
            GTEST_SKIP() << "not on this machine: " << outcome->impossible;
        if (outcome->difference)
            FAIL() << diff::text(*outcome->difference) << "made smaller by: tna-diff random --kind " << name
                   << " --seeds " << GetParam() << " --packets " << packets << " --fdb " << wantedFdb()
                   << " --hook " << wantedHook();
        EXPECT_FALSE(outcome->watched && wantedFdb() == "auto" && kernelIsReadInPlace())
            << "this kernel can be read in place";
        if (outcome->watched && kind != Kind::bridge && kind != Kind::vlan)
            GTEST_SKIP() << "the kernel is not read in place here, so that packets are not routed";
        RecordProperty("fast_packets", std::to_string(outcome->figures.fast));
        totals.configurations++;
        totals.packets += outcome->packets;
        totals.figures += outcome->figures;
        const auto* least = std::ranges::find(leasts, kind, &Least::kind);
        if (least == std::end(leasts) || packets < usual)
            return;
        kindsLeast = least;
        if (GetParam() == least->seed) {
            EXPECT_GE(outcome->figures.fast * 100, outcome->packets * least->ofSeed)
                << "the fast path was hardly used";
        }
    }

private:
    static std::string wantedFdb() {
        const char* fdb = std::getenv("TNA_TEST_FDB");
        return fdb == nullptr ? "auto" : fdb;
    }
    static std::string wantedHook() {
        const char* hook = std::getenv("TNA_TEST_HOOK");
        return hook == nullptr ? "xdp" : hook;
    }
};

class BridgeEquivalence : public Equivalence {};
TEST_P(BridgeEquivalence, NobodyCanTell) {
    play(Kind::bridge, "bridge", 3000);
}

/// Shorter, because emulated machines do it.
class VlanEquivalence : public Equivalence {};
TEST_P(VlanEquivalence, NobodyCanTell) {
    play(Kind::vlan, "vlan", 500);
}

class RouterEquivalence : public Equivalence {};
TEST_P(RouterEquivalence, NobodyCanTell) {
    play(Kind::router, "router", 3000);
}

class RoutedBridgeEquivalence : public Equivalence {};
TEST_P(RoutedBridgeEquivalence, NobodyCanTell) {
    play(Kind::routedBridge, "routed-bridge", 3000);
}

/// These need a kernel with VLANs, or with VRFs.
class VlanRouterEquivalence : public Equivalence {};
TEST_P(VlanRouterEquivalence, NobodyCanTell) {
    play(Kind::vlanRouter, "vlan-router", 500);
}

class VrfEquivalence : public Equivalence {};
TEST_P(VrfEquivalence, NobodyCanTell) {
    play(Kind::vrf, "vrf", 500);
}

/// What authors do not think of: grammars taken whole, and what the running kernel has.
class TablesEquivalence : public Equivalence {};
TEST_P(TablesEquivalence, NobodyCanTell) {
    play(Kind::tables, "tables", 1000);
}

class RouteOptionsEquivalence : public Equivalence {};
TEST_P(RouteOptionsEquivalence, NobodyCanTell) {
    play(Kind::routeOptions, "route-options", 1000);
}

class QdiscEquivalence : public Equivalence {};
TEST_P(QdiscEquivalence, NobodyCanTell) {
    play(Kind::qdisc, "qdisc", 500);
}

class SysctlEquivalence : public Equivalence {};
TEST_P(SysctlEquivalence, NobodyCanTell) {
    play(Kind::sysctl, "sysctl", 500);
}

class LinksEquivalence : public Equivalence {};
TEST_P(LinksEquivalence, NobodyCanTell) {
    play(Kind::links, "links", 500);
}

/// Connections that pass rules. Where those are not steady nothing is fast, which is one configuration in
/// five.
class FirewallEquivalence : public Equivalence {};
TEST_P(FirewallEquivalence, NobodyCanTell) {
    play(Kind::firewall, "firewall", 1500);
}

class NatEquivalence : public Equivalence {};
TEST_P(NatEquivalence, NobodyCanTell) {
    play(Kind::nat, "nat", 1500);
}

class BridgedFirewallEquivalence : public Equivalence {};
TEST_P(BridgedFirewallEquivalence, NobodyCanTell) {
    play(Kind::bridgedFirewall, "bridged-firewall", 1500);
}

class ContainersEquivalence : public Equivalence {};
TEST_P(ContainersEquivalence, NobodyCanTell) {
    play(Kind::containers, "containers", 1500);
}

TEST(Machine, SaysWhatItHas) {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const auto has = [](const std::vector<diff::Setting>& all, const char* name) {
        return std::ranges::find(all, name, &diff::Setting::name) != all.end();
    };
    EXPECT_TRUE(has(diff::machine().sysctls, "ipv4/conf/p0/forwarding"));
    EXPECT_TRUE(has(diff::machine().bridgeOptions, "ageing_time"));
    EXPECT_TRUE(has(diff::machine().portOptions, "isolated"));
    EXPECT_EQ(diff::accepted({"ip link add x0 type bridge", "ip link add x0 type nothing",
                              "tc qdisc add dev {0} root pfifo_fast", "false"}),
              (std::vector<std::size_t>{0, 2}));
}

auto seeds(std::size_t usual) {
    return ::testing::Range(1U, 1U + static_cast<unsigned>(wanted("TNA_TEST_SEEDS", usual)));
}
INSTANTIATE_TEST_SUITE_P(Bridge, BridgeEquivalence, seeds(10));
INSTANTIATE_TEST_SUITE_P(Vlan, VlanEquivalence, seeds(4));
INSTANTIATE_TEST_SUITE_P(Router, RouterEquivalence, seeds(10));
INSTANTIATE_TEST_SUITE_P(RoutedBridge, RoutedBridgeEquivalence, seeds(10));
INSTANTIATE_TEST_SUITE_P(VlanRouter, VlanRouterEquivalence, seeds(3));
INSTANTIATE_TEST_SUITE_P(Vrf, VrfEquivalence, seeds(1));
INSTANTIATE_TEST_SUITE_P(Tables, TablesEquivalence, seeds(4));
INSTANTIATE_TEST_SUITE_P(RouteOptions, RouteOptionsEquivalence, seeds(4));
INSTANTIATE_TEST_SUITE_P(Qdisc, QdiscEquivalence, seeds(3));
INSTANTIATE_TEST_SUITE_P(Sysctl, SysctlEquivalence, seeds(4));
INSTANTIATE_TEST_SUITE_P(Links, LinksEquivalence, seeds(3));
INSTANTIATE_TEST_SUITE_P(Firewall, FirewallEquivalence, seeds(6));
INSTANTIATE_TEST_SUITE_P(Nat, NatEquivalence, seeds(4));
INSTANTIATE_TEST_SUITE_P(BridgedFirewall, BridgedFirewallEquivalence, seeds(1));
INSTANTIATE_TEST_SUITE_P(Containers, ContainersEquivalence, seeds(1));

} // namespace
} // namespace tna::test
