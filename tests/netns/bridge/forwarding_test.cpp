// SPDX-License-Identifier: Apache-2.0
// What the bridge module forwards, and what it leaves to Linux because of the frame or its stations.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

class Forwarding : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
    }
    /// Only `port` gets the frame: what is sent behind it arrives next everywhere.
    void expectNowhereElse(std::initializer_list<unsigned> others) {
        for (const unsigned port : others)
            EXPECT_THAT(far(port).drain(), ::testing::IsEmpty()) << "on port " << port;
    }
};

TEST_F(Forwarding, KnownUnicastIsForwardedUnchangedByTheFastPath) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(arrivesAt(1), oneToTwo());
    EXPECT_EQ(send(twoToOne(), 1), fastPath());
    EXPECT_EQ(arrivesAt(0), twoToOne());
    expectNowhereElse({2});
}

TEST_F(Forwarding, UnknownSourceIsLeftToLinuxWhichLearnsIt) {
    const auto frame = FrameBuilder().ethernet(station(2), station(7)).udp();
    EXPECT_EQ(send(frame), slowPath("source-unknown"));
    EXPECT_EQ(arrivesAt(1), frame);
    EXPECT_EQ(send(frame), fastPath());
    EXPECT_EQ(arrivesAt(1), frame);
}

TEST_F(Forwarding, UnknownDestinationIsFloodedByLinux) {
    const auto frame = FrameBuilder().ethernet(station(99), station(1)).udp();
    EXPECT_EQ(send(frame), slowPath("unknown-unicast"));
    EXPECT_EQ(arrivesAt(1), frame);
    EXPECT_EQ(arrivesAt(2), frame);
}

TEST_F(Forwarding, BroadcastIsLeftToLinux) {
    const auto frame = FrameBuilder().ethernet({255, 255, 255, 255, 255, 255}, station(1)).udp();
    EXPECT_EQ(send(frame), slowPath("multicast"));
    EXPECT_EQ(arrivesAt(1), frame);
    EXPECT_EQ(arrivesAt(2), frame);
}

TEST_F(Forwarding, StaticEntryOnAnotherPortWinsOverALearntSource) {
    must("bridge fdb replace " + text(station(1)) + " dev p2 master static sticky");
    EXPECT_EQ(send(oneToTwo()), slowPath("source-unknown"));
    EXPECT_EQ(arrivesAt(1), oneToTwo());
}

TEST_F(Forwarding, MulticastSourceIsLeftToLinuxWhichDropsIt) {
    const auto frame = FrameBuilder().ethernet(station(2), {3, 0, 0, 0, 0, 1}).udp();
    EXPECT_EQ(send(frame), slowPath("source-invalid"));
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(arrivesAt(1), oneToTwo());
}

TEST_F(Forwarding, FrameForTheHostIsLeftToLinux) {
    must("bridge fdb add 02:00:00:00:55:55 dev p1 master permanent");
    EXPECT_EQ(send(FrameBuilder().ethernet({2, 0, 0, 0, 0x55, 0x55}, station(1)).udp()), slowPath("local"));
}

TEST_F(Forwarding, DestinationBehindTheSamePortIsLeftToLinuxWhichDropsIt) {
    far(0).send(FrameBuilder().ethernet(station(2), station(3)).udp());
    ASSERT_TRUE(arrivesAt(1));
    EXPECT_EQ(send(FrameBuilder().ethernet(station(3), station(1)).udp()), slowPath("same-port"));
    expectNowhereElse({1, 2});
}

TEST_F(Forwarding, StationThatMovesIsServedAtItsNewPortAtOnce) {
    EXPECT_EQ(send(twoToOne(), 2), slowPath("source-unknown"));
    ASSERT_EQ(arrivesAt(0), twoToOne());
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(arrivesAt(2), oneToTwo());
    expectNowhereElse({1});
}

TEST_F(Forwarding, DeletedDestinationIsFloodedFromTheNextFrameOn) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    EXPECT_EQ(send(oneToTwo()), slowPath("unknown-unicast"));
    EXPECT_EQ(arrivesAt(2), oneToTwo());
}

TEST_F(Forwarding, DeletedSourceIsLearntAgain) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("bridge fdb del " + text(station(1)) + " dev p0 master");
    EXPECT_EQ(send(oneToTwo()), slowPath("source-unknown"));
    EXPECT_EQ(send(oneToTwo()), fastPath());
}

TEST_F(Forwarding, EntryTurnedIntoTheHostsOwnIsNotForwardedAnyMore) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("bridge fdb replace " + text(station(2)) + " dev p1 master permanent");
    EXPECT_EQ(send(oneToTwo()), slowPath("local"));
}

TEST_F(Forwarding, PortTakenOutOfTheBridgeGetsNothing) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("ip link set p1 nomaster");
    EXPECT_EQ(send(oneToTwo()), slowPath("unknown-unicast"));
    must("ip link set p1 master br0");
    ASSERT_TRUE(reaches("p1", "accelerated"));
    far(1).send(twoToOne());
    ASSERT_TRUE(arrivesAt(0));
    EXPECT_EQ(send(oneToTwo()), fastPath());
}

TEST_F(Forwarding, PortOfAnotherBridgeWithTheSameStationsIsNotMistaken) {
    must("ip link add br1 type bridge mcast_snooping 0");
    must("ip link set br1 up");
    must("ip link set p1 master br1");
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    EXPECT_EQ(send(oneToTwo()), slowPath("unknown-unicast"));
    EXPECT_EQ(arrivesAt(2), oneToTwo());
    expectNowhereElse({1});
}

TEST_F(Forwarding, RenamedPortStaysAccelerated) {
    must("ip link set p1 down");
    must("ip link set p1 name lan1");
    must("ip link set lan1 up");
    ASSERT_TRUE(reaches("lan1", "accelerated"));
    ASSERT_TRUE(eventually([&] {
        far(1).send(twoToOne());
        far(0).send(oneToTwo());
        return counted(0).fast > 0;
    }));
}

TEST_F(Forwarding, DeletedPortLeavesTheOthersAccelerated) {
    must("ip link del p2");
    ASSERT_TRUE(eventually([&] {
        pump();
        return !controller_->port("p2");
    }));
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(arrivesAt(1), oneToTwo());
}

TEST_F(Forwarding, PausedPortIsLeftToLinuxAndNothingIsRedirectedToIt) {
    ASSERT_TRUE(controller_->pause("p1", true));
    EXPECT_TRUE(reaches("p1", "paused"));
    EXPECT_EQ(send(oneToTwo()), slowPath("egress-unmanaged"));
    EXPECT_EQ(arrivesAt(1), oneToTwo());
    ASSERT_TRUE(controller_->pause("p1", false));
    EXPECT_TRUE(reaches("p1", "accelerated"));
    EXPECT_TRUE(eventually([&] { return send(oneToTwo()) == fastPath(); }));
}

TEST_F(Forwarding, BytesAreCountedAtBothPorts) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto in = controller_->port("p0");
    const auto out = controller_->port("p1");
    EXPECT_EQ((*in)["port"]["fast_bytes"], oneToTwo().bytes.size());
    EXPECT_EQ((*out)["port"]["fast_out_packets"], 1);
    EXPECT_EQ((*out)["port"]["fast_out_bytes"], oneToTwo().bytes.size());
}

} // namespace
} // namespace tna::test
