// SPDX-License-Identifier: Apache-2.0
// What Linux has on a frame's way: at ingress it comes after a program at tcx, which then leaves the frame to
// Linux; at egress Linux itself runs it, but for netfilter's hook there.
#include "condition.hpp"
#include "tcx_fixture.hpp"

namespace tna::test {
namespace {

class TcxConditionTest : public AtTcx<ConditionTest> {};

TEST_P(TcxConditionTest, FramesGoWhereLinuxSendsThem) {
    expectAsLinux(GetParam(), {{1, {oneToTwo()}}});
}

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

INSTANTIATE_TEST_SUITE_P(
    TrafficControl, TcxConditionTest,
    ::testing::Values(
        Condition{"IngressFilter",
                  {"tc qdisc add dev p0 clsact"},
                  {"tc filter add dev p0 ingress" + matchAll},
                  "tc",
                  {"tc filter del dev p0 ingress"}},
        Condition{"IngressFilterThatDrops",
                  {"tc qdisc add dev p0 clsact && tc filter add dev p0 ingress" + matchAll +
                   " action drop && tc filter del dev p0 ingress"},
                  {"tc filter add dev p0 ingress" + matchAll + " action drop"},
                  "tc",
                  {"tc filter del dev p0 ingress"}},
        Condition{"ClsactAndFilterTogether",
                  {},
                  {"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress" + matchAll},
                  "tc",
                  {"tc qdisc del dev p0 clsact"}},
        Condition{
            "EmptyClsactAtIngress", {}, {"tc qdisc add dev p0 clsact"}, "", {"tc qdisc del dev p0 clsact"}},
        Condition{"EgressFilterThatDrops",
                  {"tc qdisc add dev p1 clsact && tc filter add dev p1 egress" + matchAll +
                   " action drop && tc filter del dev p1 egress"},
                  {"tc filter add dev p1 egress" + matchAll + " action drop"},
                  "",
                  {"tc filter del dev p1 egress"}},
        // What is larger than the bucket is dropped.
        Condition{"DisciplineThatLosesAll",
                  {"tc qdisc add dev p1 root tbf rate 1mbit burst 20b limit 20b && tc qdisc del dev p1 root"},
                  {"tc qdisc add dev p1 root tbf rate 1mbit burst 20b limit 20b"},
                  "",
                  {"tc qdisc del dev p1 root"}}),
    nameOf);

Condition netdev(const char* name, const std::string& hook, const std::string& port,
                 const std::string& reason, const std::string& policy) {
    return {name,
            {"nft add table netdev t"},
            {"nft add chain netdev t c '{ type filter hook " + hook + " device " + port +
             " priority 0; policy " + policy + "; }'"},
            reason,
            {"nft delete chain netdev t c"}};
}

INSTANTIATE_TEST_SUITE_P(
    Netfilter, TcxConditionTest,
    ::testing::Values(netdev("NetdevIngressThatDrops", "ingress", "p0", "netdev-hook", "drop"),
                      netdev("NetdevEgress", "egress", "p1", "netdev-hook", "accept"),
                      netdev("NetdevEgressThatDrops", "egress", "p1", "netdev-hook", "drop"),
                      netdev("NetdevEgressOfTheIngressPort", "egress", "p0", "", "drop")),
    nameOf);

} // namespace
} // namespace tna::test
