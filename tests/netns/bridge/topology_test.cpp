// SPDX-License-Identifier: Apache-2.0
// Ports that leave, come back, are renamed, deleted, moved elsewhere, paused.
#include "bridge_fixture.hpp"

#include <net/if.h>

namespace tna::test {
namespace {

class Topology : public AcceleratedBridgeTest {
protected:
    void SetUp() override {
        AcceleratedBridgeTest::SetUp();
        if (!IsSkipped()) {
            ASSERT_EQ(treat(oneToTwo()), usual());
        }
    }
    static Treatment usual(unsigned port = 1) { return {fastPath(), {{port, {oneToTwo()}}}}; }
    void addPort(unsigned number, const std::string& bridge = "br0", const std::string& how = "") {
        const auto n = std::to_string(number);
        must("ip link add p" + n + " " + how + " type veth peer name far" + n + " netns " + farSide_->name());
        inFar("ip link set far" + n + " up");
        inFar("ethtool -K far" + n + " gro on");
        must("ip link set p" + n + " master " + bridge + " up");
        const auto inside = farSide_->enter();
        farPorts_[number].emplace("far" + n);
    }
};

TEST_F(Topology, PortTakenOutOfTheBridgeGetsNothing) {
    must("ip link set p1 nomaster");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
    must("ip link set p1 master br0");
    ASSERT_TRUE(reaches("p1", "accelerated"));
    ASSERT_EQ(treat(twoToOne(), 1).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(Topology, IngressPortTakenOutOfTheBridgeIsLeftToLinuxAtOnce) {
    must("ip link set p0 nomaster");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("not-a-bridge-port"), {}}));
}

/// What lies behind the device's handler then is not a bridge port.
TEST_F(Topology, IngressPortGivenToAnotherKindOfMaster) {
    must("ip link set p0 nomaster");
    if (const auto added =
            command({"ip", "link", "add", "m0", "link", "p0", "type", "macvlan", "mode", "passthru"});
        added.exitCode != 0)
        GTEST_SKIP() << "this kernel has no macvlan: " << added.output;
    must("ip link set m0 up");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("not-a-bridge-port"), {}}));
}

TEST_F(Topology, PortOfAnotherBridgeWithTheSameStationsIsNotMistaken) {
    must("ip link add br1 type bridge mcast_snooping 0 ageing_time 6400000");
    must("ip link set br1 up");
    must("ip link set p1 master br1");
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
    must("ip link set p2 master br1");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {}}));
}

/// The entry that is cached may be forgotten, and its memory become the other bridge's entry of the same
/// station.
TEST_F(Topology, EntriesWhoseMemoryIsUsedByAnotherBridge) {
    must("ip link add br1 address 02:00:00:00:ff:01 type bridge mcast_snooping 0 ageing_time 6400000");
    must("ip link set br1 up");
    must("ip link set br0 address 02:00:00:00:ff:02");
    const auto station2 = "bridge fdb replace " + text(station(2)) + " dev p1 master static";
    for (unsigned attempt = 0; attempt < 24; attempt++) {
        must(station2);
        EXPECT_EQ(treat(oneToTwo()), usual());
        must("ip link set p1 master br1");
        for (unsigned extra = 0; extra < attempt % 4; extra++)
            must("bridge fdb replace " + text(station(100 + extra)) + " dev p1 master static");
        must(station2);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
        must("ip link set p1 master br0");
    }
}

TEST_F(Topology, BothPortsMovedToAnotherBridgeMeetItsEntries) {
    must("ip link add br1 type bridge mcast_snooping 0 ageing_time 6400000");
    must("ip link set br1 up");
    must("ip link set p0 master br1");
    must("ip link set p1 master br1");
    must("bridge fdb replace " + text(station(2)) + " dev p2 master static");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("source-unknown"), {{1, {oneToTwo()}}}}));
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{slowPath("source-unknown"), {{0, {twoToOne()}}}}));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

/// XDP links survive that; the controller of this namespace sees no more of the ports than that they left.
TEST_F(Topology, PortsMovedToAnotherNamespaceAreLeftToItsLinux) {
    const Namespace elsewhere;
    const auto before = counted(0);
    for (const std::string port : {"p0", "p1"})
        must("ip link set " + port + " netns " + elsewhere.name());
    {
        const auto inside = elsewhere.enter();
        must("ip link add br0 type bridge mcast_snooping 0");
        must("ip link set br0 up");
        for (const std::string port : {"p0", "p1"})
            must("ip link set " + port + " master br0 up");
        for (const char* family : {"iptables", "ip6tables"})
            if (const std::string key = std::string("net.bridge.bridge-nf-call-") + family;
                command({"sysctl", "-n", key}).exitCode == 0)
                sysctl(key, "0");
        must("bridge fdb replace " + text(station(1)) + " dev p0 master static");
        must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
        must("bridge fdb replace " + text(station(7)) + " dev p0 master static");
        // The carrier comes a moment later.
        EXPECT_TRUE(eventually([] {
            const auto ports = command({"bridge", "link", "show"}).output;
            const auto first = ports.find("state forwarding");
            return first != std::string::npos &&
                   ports.find("state forwarding", first + 1) != std::string::npos;
        }));
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));
    // Nothing is remembered of these two.
    const auto unseen = FrameBuilder().ethernet(station(2), station(7)).udp();
    EXPECT_EQ(treat(unseen).out, (Arrivals{{1, {unseen}}}));
    const auto after = counted(0);
    EXPECT_EQ(after.fast, before.fast);
    const auto counts = after.slow.find("namespace");
    EXPECT_TRUE(counts != after.slow.end() && counts->second == 3) << ::testing::PrintToString(after);
}

TEST_F(Topology, RenamedPortStaysAccelerated) {
    must("ip link set p1 down");
    must("ip link set p1 name lan1");
    must("ip link set lan1 up");
    ASSERT_TRUE(reaches("lan1", "accelerated"));
    ASSERT_TRUE(eventually([&] { return treat(twoToOne(), 1).out == Arrivals{{0, {twoToOne()}}}; }));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(Topology, DeletedPortLeavesTheOthersAccelerated) {
    farPorts_.erase(2);
    must("ip link del p2");
    ASSERT_TRUE(eventually([&] {
        pump();
        return !controller_->port("p2");
    }));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

/// Not even the index says that it is another device.
TEST_F(Topology, PortReplacedByAnotherOneWithItsNameAndIndex) {
    const auto index = std::to_string(::if_nametoindex("p1"));
    farPorts_.erase(1);
    must("ip link del p1");
    addPort(1, "br0", "index " + index);
    opens(1, {0, 2});
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}, {2, {oneToTwo()}}}));
    ASSERT_TRUE(reaches("p1", "accelerated"));
    ASSERT_EQ(treat(twoToOne(), 1).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_TRUE(eventually([&] {
        pump();
        const auto treatment = treat(oneToTwo());
        EXPECT_EQ(treatment.out, usual().out);
        return treatment == usual();
    }));
}

/// The program goes with a device, and its link names the index that it has, wherever.
TEST_F(Topology, PortMovedElsewhereWhoseIndexAnotherOneHas) {
    const Namespace elsewhere;
    const auto index = std::to_string(::if_nametoindex("p1"));
    must("ip link set p1 netns " + elsewhere.name());
    farPorts_.erase(1);
    inFar("ip link set far1 down");
    inFar("ip link set far1 name elsewhere"); // and goes on, so that its other end does
    addPort(1, "br0", "index " + index);
    ASSERT_TRUE(reaches("p1", "accelerated"));
    opens(1, {0, 2});
    EXPECT_TRUE(eventually([&] {
        pump();
        return treat(twoToOne(), 1) == (Treatment{fastPath(), {{0, {twoToOne()}}}});
    }));
}

TEST_F(Topology, BridgeThatIsDownForwardsNothing) {
    must("ip link set br0 down");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("stp-state"), {}}));
    must("ip link set br0 up");
    // All stations have been forgotten.
    EXPECT_EQ(treat(oneToTwo()),
              (Treatment{slowPath("source-unknown"), {{1, {oneToTwo()}}, {2, {oneToTwo()}}}}));
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{slowPath("source-unknown"), {{0, {twoToOne()}}}}));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(Topology, DeletedBridgeForwardsNothing) {
    must("ip link del br0");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("not-a-bridge-port"), {}}));
}

TEST_F(Topology, PausedPortIsLeftToLinuxAndNothingIsRedirectedToIt) {
    ASSERT_TRUE(controller_->pause("p1", true));
    EXPECT_TRUE(reaches("p1", "paused"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-unmanaged"), usual().out}));
    ASSERT_TRUE(controller_->pause("p1", false));
    EXPECT_TRUE(reaches("p1", "accelerated"));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(Topology, PausedPortThatIsNoneIsResumedForWhenItIsOneAgain) {
    ASSERT_TRUE(controller_->pause("p1", true));
    must("ip link set p1 nomaster");
    ASSERT_TRUE(eventually([&] { return controller_->onNetlink() && !controller_->pause("p1", true); }))
        << "it still is one";
    EXPECT_TRUE(controller_->pause("p1", false));
    EXPECT_FALSE(controller_->pause("p1", false)) << "nothing is left to be resumed";
    must("ip link set p1 master br0");
    EXPECT_TRUE(reaches("p1", "accelerated"));
}

TEST_F(Topology, AddedPortIsAccelerated) {
    addPort(3);
    ASSERT_TRUE(reaches("p3", "accelerated"));
    opens(3, {0, 1, 2});
    const auto frame = FrameBuilder().ethernet(station(1), station(4)).udp();
    ASSERT_EQ(treat(frame, 3).out, (Arrivals{{0, {frame}}}));
    EXPECT_EQ(treat(frame, 3), (Treatment{fastPath(), {{0, {frame}}}}));
}

/// A table that is full gives the place of a port that left to the next one; frames must not follow.
TEST_F(Topology, PlaceOfAPortGivenToAnother) {
    controller_.reset();
    ASSERT_NO_FATAL_FAILURE(accelerate(3));
    ASSERT_EQ(treat(oneToTwo()), usual());
    ASSERT_TRUE(controller_->pause("p1", true));
    addPort(3);
    ASSERT_TRUE(reaches("p3", "accelerated"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("egress-unmanaged"), usual().out}));
}

} // namespace
} // namespace tna::test
