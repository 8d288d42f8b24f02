// SPDX-License-Identifier: Apache-2.0
// The kfuncs of kernel-patches/ on a bridge without VLANs: what they tell is what plain Linux does.
#include "lookup_fixture.hpp"

#include "support/bridge_netlink.hpp"

#include <cerrno>
#include <linux/neighbour.h>

namespace tna::test {
namespace {

class FdbLookup : public LookupTest {
protected:
    /// Seconds since the entry was last refreshed, as the bridge tells them.
    static int age(unsigned number) {
        const auto shown = command({"sh", "-c",
                                    "bridge -s -j fdb show br br0 | jq '[.[] | select(.mac == \"" +
                                        text(station(number)) + "\") | .updated] | max'"});
        return std::atoi(shown.output.c_str());
    }
    static Frame from(unsigned source, unsigned destination) {
        return FrameBuilder().ethernet(station(destination), station(source)).udp();
    }
    static Mac bridgeAddress() {
        const auto shown = command({"sh", "-c", "ip -j link show br0 | jq -r .[0].address"}).output;
        Mac mac{};
        for (std::size_t i = 0; i < mac.size(); i++)
            mac[i] = static_cast<std::uint8_t>(std::stoul(shown.substr(3 * i, 2), nullptr, 16));
        return mac;
    }
};

TEST_F(FdbLookup, KnownStationsAreForwardedBothWays) {
    learn();
    EXPECT_EQ(ask(oneToTwo()), (Answer{.ret = BPF_BR_FDB_RET_FORWARD, .device = "p1"}));
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
    EXPECT_EQ(agreed(twoToOne(), 1), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, UnknownSourceIsLearntByTheBridgeFirst) {
    learn();
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, UnknownDestinationAndGroupsAreFlooded) {
    learn();
    EXPECT_EQ(agreed(from(1, 9)), BPF_BR_FDB_RET_FLOOD);
    for (const Mac& group : {Mac{255, 255, 255, 255, 255, 255}, Mac{1, 0, 0x5e, 0, 0, 5}})
        EXPECT_EQ(agreed(FrameBuilder().ethernet(group, station(1)).udp()), BPF_BR_FDB_RET_FLOOD);
}

TEST_F(FdbLookup, StationThatMovesIsMovedByTheBridge) {
    learn();
    EXPECT_EQ(agreed(oneToTwo(), 2), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(oneToTwo(), 2), BPF_BR_FDB_RET_FORWARD);
    EXPECT_EQ(ask(twoToOne(), 1).device, "p2");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_LEARN);
}

TEST_F(FdbLookup, EntryRemovedOrReplacedByHandCountsAtOnce) {
    learn();
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FLOOD);
    must("bridge fdb replace " + text(station(2)) + " dev p2 master static");
    EXPECT_EQ(ask(oneToTwo()).device, "p2");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, FramesForTheHostAreLocal) {
    learn();
    const auto forHost = FrameBuilder().ethernet(bridgeAddress(), station(1)).udp();
    EXPECT_EQ(ask(forHost), (Answer{.ret = BPF_BR_FDB_RET_LOCAL, .device = "br0"}));
    EXPECT_EQ(agreed(forHost), BPF_BR_FDB_RET_LOCAL);
    EXPECT_EQ(agreed(FrameBuilder().ethernet(station(2), bridgeAddress()).udp()), BPF_BR_FDB_RET_LEARN);
}

TEST_F(FdbLookup, SourceThatNoStationCanHaveIsBlocked) {
    learn();
    for (const Mac& source : {Mac{}, Mac{1, 0, 0x5e, 0, 0, 5}})
        EXPECT_EQ(agreed(FrameBuilder().ethernet(station(2), source).udp()), BPF_BR_FDB_RET_BLOCKED);
}

TEST_F(FdbLookup, BackToWhereItCameFromOnlyInHairpinMode) {
    learn();
    EXPECT_EQ(agreed(from(2, 2), 1), BPF_BR_FDB_RET_NO_EGRESS);
    must("bridge link set dev p1 hairpin on");
    EXPECT_EQ(agreed(from(2, 2), 1), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, StatesOfThePortsCount) {
    learn();
    for (const char* state : {"1", "2"}) {
        must(std::string("bridge link set dev p0 state ") + state);
        EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_BLOCKED) << state;
        EXPECT_EQ(agreed(twoToOne(), 1), BPF_BR_FDB_RET_NO_EGRESS) << state;
        must("bridge link set dev p0 state 3");
    }
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, DownBridgeBlocks) {
    learn();
    must("ip link set br0 down");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_BLOCKED);
}

TEST_F(FdbLookup, PortInLearningStateLearnsButDoesNotForward) {
    learn();
    must("bridge link set dev p0 state 2");
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_BLOCKED);
}

TEST_F(FdbLookup, IsolatedPortsDoNotReachEachOther) {
    learn();
    must("bridge link set dev p0 isolated on");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
    must("bridge link set dev p1 isolated on");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_NO_EGRESS);
}

TEST_F(FdbLookup, SourceNeedNotBeKnownWithoutLearning) {
    learn();
    must("bridge link set dev p0 learning off");
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_FORWARD);
    must("bridge link set dev p0 locked on");
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, WithoutAgeingTimeNothingIsLearnt) {
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    must("ip link set br0 type bridge ageing_time 0");
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_FORWARD);
    EXPECT_EQ(agreed(from(3, 2)), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, WhatTakesASocketBufferIsLeftToTheBridge) {
    learn();
    for (const char* setting :
         {"ip link set br0 promisc on", "ip link set br0 type bridge vlan_stats_enabled 1",
          "bridge link set dev p2 neigh_suppress on", "ip link set p0 type bridge_slave proxy_arp on",
          "bridge link set dev p0 vlan_tunnel on"}) {
        must(setting);
        EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_SKB) << setting;
        std::string undone = setting;
        undone.replace(undone.rfind(undone.back() == '1' ? "1" : "on"), 2,
                       undone.back() == '1' ? "0" : "off");
        must(undone);
        EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD) << undone;
    }
    must("bridge link set dev p1 vlan_tunnel on");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_SKB);
}

TEST_F(FdbLookup, BackupPortInUseIsLeftToTheBridge) {
    learn();
    must("bridge link set dev p1 backup_port p2");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
    must("ip link set p1 down");
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_SKB);
}

TEST_F(FdbLookup, StationWhoseReturnIsAnnouncedIsLeftToTheBridge) {
    learn();
    if (setActivity("p0", station(1), FDB_NOTIFY_BIT | FDB_NOTIFY_INACTIVE_BIT) != 0)
        GTEST_SKIP() << "this kernel does not watch the activity of stations";
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(oneToTwo()), BPF_BR_FDB_RET_FORWARD);
}

TEST_F(FdbLookup, LookingRefreshesTheSourceUnlessItOnlyPeeks) {
    learn();
    ASSERT_TRUE(eventually([] { return age(1) >= 2; }, std::chrono::seconds(20)));
    EXPECT_EQ(ask(oneToTwo()).ret, BPF_BR_FDB_RET_FORWARD);
    EXPECT_GE(age(1), 2);
    const auto other = age(2);
    EXPECT_EQ(ask(oneToTwo(), 0, 0).ret, BPF_BR_FDB_RET_FORWARD);
    EXPECT_LT(age(1), other);
    EXPECT_GE(age(2), other);
}

TEST_F(FdbLookup, EachNamespaceHasItsOwnBridge) {
    learn();
    const Namespace other;
    const auto inside = other.enter();
    must("ip link add p0 type veth peer name x0");
    must("ip link add p1 type veth peer name x1");
    makeReady("p0");
    EXPECT_EQ(ask(oneToTwo()).ret, BPF_BR_FDB_RET_NO_PORT);
    must("ip link add br0 type bridge mcast_snooping 0");
    for (const char* device : {"x0", "x1", "br0"})
        must(std::string("ip link set up dev ") + device);
    for (const char* port : {"p0", "p1"})
        must(std::string("ip link set master br0 up dev ") + port);
    ASSERT_TRUE(eventually([&] { return ask(oneToTwo()).ret == BPF_BR_FDB_RET_LEARN; }));
    must("bridge fdb add " + text(station(1)) + " dev p0 master static");
    EXPECT_EQ(ask(oneToTwo()).ret, BPF_BR_FDB_RET_FLOOD);
    must("bridge fdb add " + text(station(2)) + " dev p0 master static");
    EXPECT_EQ(ask(oneToTwo()).ret, BPF_BR_FDB_RET_NO_EGRESS);
}

TEST_F(FdbLookup, DescriptionsThatCannotBeAreRefused) {
    learn();
    auto question = describe(oneToTwo(), 2);
    EXPECT_EQ(askAs(question, "p0").ret, -EINVAL);
    question = describe(oneToTwo(), 0);
    question.vid = 1;
    EXPECT_EQ(askAs(question, "p0").ret, -EINVAL);
    question.vlan_proto = 0x81;
    question.vid = 4096;
    EXPECT_EQ(askAs(question, "p0").ret, -EINVAL);
    question.vid = 1;
    EXPECT_EQ(askAs(question, "p0").ret, BPF_BR_FDB_RET_FORWARD);
    question.reserved[2] = 1;
    EXPECT_EQ(askAs(question, "p0").ret, -EINVAL);
}

TEST_F(FdbLookup, TagsAreNothingToABridgeThatDoesNotFilterVlans) {
    learn();
    const auto tagged = FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 0x600a).udp();
    EXPECT_EQ(ask(tagged), (Answer{.ret = BPF_BR_FDB_RET_FORWARD, .device = "p1"}));
    EXPECT_EQ(agreed(tagged), BPF_BR_FDB_RET_FORWARD);
}

} // namespace
} // namespace tna::test
