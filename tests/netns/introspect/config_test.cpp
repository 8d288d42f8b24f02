// SPDX-License-Identifier: Apache-2.0
#include "namespace.hpp"

#include <algorithm>

namespace tna::test {
namespace {

using model::Network;

class ConfigOfNamespace : public IntrospectTest {
protected:
    void SetUp() override {
        IntrospectTest::SetUp();
        if (!IsSkipped()) {
            run("ip link set lo up; ip link add v0 up type veth peer name v1; ip link set v1 up");
            open();
        }
    }
    [[nodiscard]] std::uint32_t routes(std::uint8_t family, std::uint32_t table, const char* type) const {
        for (const auto& item : network().routes)
            if (item.family == family && item.table == table)
                return item.byType.contains(type) ? item.byType.at(type) : 0;
        return 0;
    }
};

TEST_F(ConfigOfNamespace, HasTheAddressesThatIpSets) {
    run("ip addr add 10.9.0.1/24 dev v0; ip addr add fd00:9::1/64 dev v0 nodad");
    const auto has = [&](const char* prefix) {
        const auto& list = link("v0")->addresses;
        return std::ranges::count(list, prefix, &model::Address::prefix) == 1;
    };
    EXPECT_TRUE(eventually([&](const Network&) { return has("10.9.0.1/24") && has("fd00:9::1/64"); }));
    run("ip addr del 10.9.0.1/24 dev v0");
    EXPECT_TRUE(eventually([&](const Network&) { return !has("10.9.0.1/24"); }));
}

TEST_F(ConfigOfNamespace, CountsRoutesAlsoWhenTheyGoWithTheirLinkUnannounced) {
    run("ip addr add 10.9.0.1/24 dev v0; ip route add 10.10.0.0/16 via 10.9.0.2;"
        "ip route add blackhole 10.11.0.0/16 table 100; ip route add 10.12.0.0/16 via 10.9.0.2 table 1000");
    EXPECT_TRUE(eventually([&](const Network&) {
        return routes(4, 254, "unicast") == 2 && routes(4, 100, "blackhole") == 1 &&
               routes(4, 1000, "unicast") == 1;
    }));
    EXPECT_TRUE(last_.counts);
    run("ip link set v0 down");
    EXPECT_TRUE(eventually([&](const Network&) {
        return routes(4, 254, "unicast") == 0 && routes(4, 1000, "unicast") == 0 &&
               routes(4, 100, "blackhole") == 1;
    }));
}

TEST_F(ConfigOfNamespace, HasTheRulesWithTheirSelectors) {
    const auto before = network().rules.size();
    run("ip rule add from 10.0.0.0/8 iif v0 fwmark 0x5/0xff lookup 100 priority 77");
    ASSERT_TRUE(eventually([&](const Network& now) { return now.rules.size() == before + 1; }));
    const auto rule = std::ranges::find(network().rules, 77U, &model::Rule::priority);
    ASSERT_NE(rule, network().rules.end());
    EXPECT_EQ(rule->family, 4);
    EXPECT_EQ(rule->table, 100U);
    EXPECT_EQ(rule->action, "lookup");
    EXPECT_EQ(rule->selector, "from 10.0.0.0/8 fwmark 0x5/0xff iif v0");
    run("ip rule del priority 77");
    EXPECT_TRUE(eventually([&](const Network& now) { return now.rules.size() == before; }));
}

TEST_F(ConfigOfNamespace, CountsNeighboursByState) {
    const auto ifindex = link("v0")->ifindex;
    run("ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent;"
        "ip neigh add 10.9.0.3 lladdr 02:00:00:00:00:03 dev v0 nud stale");
    EXPECT_TRUE(eventually([&](const Network& now) {
        const auto it = now.neighbours.find(ifindex);
        return it != now.neighbours.end() && it->second.reachable >= 1 && it->second.stale == 1;
    }));
}

TEST_F(ConfigOfNamespace, CountsFdbEntriesByBridge) {
    run("ip link add br0 up type bridge; ip link set v0 master br0;"
        "bridge fdb add 02:00:00:00:01:01 dev v0 master static;"
        "bridge fdb add 02:00:00:00:01:02 dev v0 master dynamic;"
        "bridge fdb add 02:00:00:00:01:03 dev v0 master dynamic");
    ASSERT_TRUE(eventually([&](const Network& now) {
        const auto it = now.fdb.find(link("br0") != nullptr ? link("br0")->ifindex : 0);
        return it != now.fdb.end() && it->second.dynamic >= 2; // the bridge may learn v1 as well
    }));
    const auto permanent = network().fdb.at(link("br0")->ifindex).permanent;
    EXPECT_GE(permanent, 2U);
    run("bridge fdb del 02:00:00:00:01:01 dev v0 master");
    EXPECT_TRUE(eventually(
        [&](const Network& now) { return now.fdb.at(link("br0")->ifindex).permanent == permanent - 1; }));
}

TEST_F(ConfigOfNamespace, TakesALargeFdbWithoutReadingEverythingAgain) {
    run("ip link add br0 up type bridge; ip link set v0 master br0;"
        "for i in $(seq 1 200); do for j in $(seq 1 100); do "
        "printf \"fdb add 02:00:00:01:%02x:%02x dev v0 master dynamic\\n\" $i $j; done; done | bridge -batch "
        "-");
    const auto entries = [&](const Network& now) {
        const auto it = now.fdb.find(link("br0") != nullptr ? link("br0")->ifindex : 0);
        return it == now.fdb.end() ? 0 : it->second.dynamic;
    };
    EXPECT_TRUE(eventually([&](const Network& now) { return entries(now) >= 20000; }));
    EXPECT_FALSE(last_.resynced);
    EXPECT_EQ(introspector_->stats().overruns, 0U);
}

TEST_F(ConfigOfNamespace, FollowsForwardingAndReversePathFilters) {
    run("echo 1 > /proc/sys/net/ipv4/conf/v0/forwarding; echo 2 > /proc/sys/net/ipv4/conf/v0/rp_filter");
    EXPECT_TRUE(eventually(
        [&](const Network&) { return link("v0")->ip.forwarding4 && link("v0")->ip.reversePathFilter == 2; }));
    run("echo 1 > /proc/sys/net/ipv4/conf/all/forwarding");
    EXPECT_TRUE(eventually([&](const Network& now) {
        return now.sysctls.at("net.ipv4.conf.all.forwarding") == "1" && link("v1")->ip.forwarding4;
    }));
    run("ip link add w0 type veth peer name w1");
    EXPECT_TRUE(
        eventually([&](const Network&) { return link("w0") != nullptr && link("w0")->ip.forwarding4; }));
}

TEST_F(ConfigOfNamespace, FollowsWhetherRoutesOfLinksThatAreDownCount) {
    run("echo 1 > /proc/sys/net/ipv4/conf/v0/ignore_routes_with_linkdown");
    EXPECT_TRUE(eventually([&](const Network&) { return link("v0")->ip.ignoreRoutesWithLinkDown; }));
    run("echo 0 > /proc/sys/net/ipv4/conf/v0/ignore_routes_with_linkdown;"
        "echo 1 > /proc/sys/net/ipv4/conf/all/ignore_routes_with_linkdown");
    EXPECT_TRUE(eventually([&](const Network& now) {
        return now.sysctls.at("net.ipv4.conf.all.ignore_routes_with_linkdown") == "1" &&
               !link("v0")->ip.ignoreRoutesWithLinkDown;
    }));
}

TEST_F(ConfigOfNamespace, ReadsUnannouncedSysctlsWhenAsked) {
    constexpr auto name = "net.bridge.bridge-nf-call-iptables";
    if (!network().sysctls.contains(name))
        GTEST_SKIP() << "this kernel has no br_netfilter";
    run("echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables");
    ASSERT_TRUE(introspector_->refreshSysctls());
    EXPECT_EQ(network().sysctls.at(name), "0");
    run("echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables");
    ASSERT_TRUE(introspector_->refreshSysctls());
    EXPECT_EQ(network().sysctls.at(name), "1");
    const auto changes = introspector_->process();
    ASSERT_TRUE(changes);
    EXPECT_TRUE(changes->any);
}

TEST_F(ConfigOfNamespace, FollowsQueueingDisciplinesAndFilters) {
    if (!tryRun("tc qdisc add dev v0 clsact"))
        GTEST_SKIP() << "this kernel has no clsact";
    const auto ifindex = link("v0")->ifindex;
    ASSERT_TRUE(eventually([&](const Network& now) {
        return std::ranges::any_of(now.qdiscs, [&](const model::Qdisc& qdisc) {
            return qdisc.ifindex == ifindex && qdisc.kind == "clsact";
        });
    }));
    EXPECT_EQ(link("v0")->ingressFilters, 0U);
    if (!tryRun("tc filter add dev v0 egress protocol all prio 1 matchall action ok") &&
        !tryRun("tc filter add dev v0 egress protocol all prio 1 u32 match u32 0 0") &&
        !tryRun("tc filter add dev v0 egress protocol all prio 1 flower"))
        GTEST_SKIP() << "this kernel has no classifier that the test knows";
    EXPECT_TRUE(eventually(
        [&](const Network&) { return link("v0")->egressFilters > 0 && link("v0")->ingressFilters == 0; }));
    run("tc qdisc del dev v0 clsact");
    EXPECT_TRUE(
        eventually([&](const Network& now) { return link("v0")->egressFilters == 0 && now.qdiscs.empty(); }));
}

/// One that comes in the place of another that looked the same has filters that are not announced.
TEST_F(ConfigOfNamespace, FollowsFiltersOfSharedBlocks) {
    if (!tryRun("tc qdisc add dev v1 ingress_block 5 egress_block 6 clsact"))
        GTEST_SKIP() << "this kernel has no clsact";
    for (const auto* block : {"5", "6"})
        if (!tryRun(std::string("tc filter add block ") + block + " protocol all prio 1 u32 match u32 0 0"))
            GTEST_SKIP() << "this kernel has no u32";
    run("tc qdisc add dev v0 clsact");
    const auto have = [&](bool ingress, bool egress) {
        return eventually([&](const Network& now) {
            return (link("v0")->ingressFilters > 0) == ingress && (link("v0")->egressFilters > 0) == egress &&
                   now == fresh();
        });
    };
    EXPECT_TRUE(have(false, false));
    run("tc qdisc del dev v0 clsact; tc qdisc add dev v0 ingress_block 5 clsact");
    EXPECT_TRUE(have(true, false));
    run("tc qdisc del dev v0 clsact; tc qdisc add dev v0 egress_block 6 clsact");
    EXPECT_TRUE(have(false, true));
    run("tc filter del block 6");
    EXPECT_TRUE(have(false, false));
    run("tc qdisc del dev v0 clsact; tc qdisc add dev v0 ingress_block 5 clsact");
    EXPECT_TRUE(have(true, false));
    run("tc chain del block 5 chain 0");
    EXPECT_TRUE(have(false, false));
}

TEST_F(ConfigOfNamespace, FollowsTheRootDiscipline) {
    if (!tryRun("tc qdisc add dev v0 root handle 1: tbf rate 10mbit burst 32k latency 50ms") &&
        !tryRun("tc qdisc add dev v0 root handle 1: pfifo limit 10"))
        GTEST_SKIP() << "this kernel has no queueing discipline that the test knows";
    EXPECT_TRUE(eventually([&](const Network& now) {
        return now.qdiscs.size() == 1 && link("v0")->rootQdisc == now.qdiscs.front().kind;
    }));
    run("tc qdisc del dev v0 root");
    EXPECT_TRUE(eventually(
        [&](const Network& now) { return now.qdiscs.empty() && link("v0")->rootQdisc == "noqueue"; }));
    // The whole model, kept up to date all along, equals one that is read now.
    EXPECT_TRUE(eventually([&](const Network& now) { return now == fresh(); }));
}

/// Changed in place, and with filters that come and go.
TEST_F(ConfigOfNamespace, FollowsSettingsAndQueueingFiltersOfADiscipline) {
    if (!tryRun("tc qdisc add dev v0 root handle 1: fq_codel limit 11000"))
        GTEST_SKIP() << "this kernel has no fq_codel";
    const auto limit = [&](std::uint64_t expected) {
        return eventually([&](const Network&) {
            const auto& queues = link("v0")->queues;
            return queues.size() == 1 && queues.begin()->settings.contains("limit") &&
                   queues.begin()->settings.at("limit") == expected;
        });
    };
    EXPECT_TRUE(limit(11000));
    run("tc qdisc change dev v0 root handle 1: fq_codel limit 12000");
    EXPECT_TRUE(limit(12000));
    EXPECT_EQ(link("v0")->queueFilters, 0U);
    run("tc filter add dev v0 parent 1: protocol all prio 1 u32 match u32 0 0 flowid 1:1");
    EXPECT_TRUE(eventually([&](const Network&) { return link("v0")->queueFilters > 0; }));
    EXPECT_TRUE(eventually([&](const Network& now) { return now == fresh(); }));
    run("tc filter del dev v0 parent 1: prio 1");
    EXPECT_TRUE(eventually([&](const Network&) { return link("v0")->queueFilters == 0; }));
}

TEST_F(ConfigOfNamespace, FollowsNfTables) {
    if (!tryRun("nft add table ip t"))
        GTEST_SKIP() << "this kernel has no nf_tables";
    run("nft add chain ip t through \"{ type filter hook forward priority 0; }\"; nft add rule ip t through "
        "counter;"
        "nft add chain ip t plain; nft add rule ip t plain counter");
    ASSERT_TRUE(eventually(
        [&](const Network& now) { return now.netfilter.rules == 2 && now.netfilter.hooks.size() == 1; }));
    const model::NetfilterHook expected{"ip", "t", "through", "forward", ""};
    EXPECT_EQ(network().netfilter.hooks.front(), expected);
    EXPECT_TRUE(last_.any);
    if (tryRun("nft add table netdev n; nft add chain netdev n early "
               "\"{ type filter hook ingress device v0 priority 0; }\"")) {
        const model::NetfilterHook device{"netdev", "n", "early", "ingress", "v0"};
        EXPECT_TRUE(eventually([&](const Network& now) {
            return std::ranges::count(now.netfilter.hooks, device) == 1 && now.netfilter.hooks.size() == 2;
        }));
        // The hook goes with the device, under its new name, or stays with the name (since 6.16).
        run("ip link set v0 down; ip link set v0 name other");
        EXPECT_TRUE(eventually([&](const Network& now) { return now.linkByName("other") != nullptr; }));
        EXPECT_EQ(network().netfilter, fresh().netfilter);
    }
    run("nft flush ruleset");
    EXPECT_TRUE(eventually(
        [&](const Network& now) { return now.netfilter.rules == 0 && now.netfilter.hooks.empty(); }));
}

TEST_F(ConfigOfNamespace, CountsXfrmPolicies) {
    if (!tryRun("ip xfrm policy add src 10.0.0.0/8 dst 11.0.0.0/8 dir out tmpl proto esp mode tunnel"))
        GTEST_SKIP() << "this kernel has no xfrm";
    EXPECT_TRUE(eventually([&](const Network& now) { return now.xfrmPolicies == 1; }));
    run("ip xfrm policy flush");
    EXPECT_TRUE(eventually([&](const Network& now) { return now.xfrmPolicies == 0; }));
}

TEST_F(ConfigOfNamespace, IsSaidToBeBehindWhilePoliciesWait) {
    if (!tryRun("ip xfrm policy list"))
        GTEST_SKIP() << "this kernel has no xfrm";
    open();
    run("for i in $(seq 1 5000); do echo xfrm policy add src 10.1.$((i / 256)).$((i % 256)) dst 10.0.0.2 dir "
        "out; done | ip -batch -");
    auto changes = introspector_->process();
    ASSERT_TRUE(changes);
    EXPECT_TRUE(changes->behind);
    changes = introspector_->process();
    ASSERT_TRUE(changes);
    EXPECT_FALSE(changes->behind);
}

TEST_F(ConfigOfNamespace, ReportsNothingWhenNothingHappened) {
    ASSERT_TRUE(eventually([](const Network&) { return true; }));
    const auto changes = introspector_->process();
    ASSERT_TRUE(changes);
    EXPECT_FALSE(changes->resynced);
    const auto events = introspector_->stats().events;
    ASSERT_TRUE(introspector_->resync());
    const auto again = introspector_->process();
    ASSERT_TRUE(again);
    if (introspector_->stats().events == events) {
        EXPECT_FALSE(again->any) << "reading everything again must not look like a change";
    }
}

} // namespace
} // namespace tna::test
