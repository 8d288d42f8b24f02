// SPDX-License-Identifier: Apache-2.0
// The watched pipeline: stations come from a mirror that follows netlink, with all that can go wrong there.
#include "bridge_fixture.hpp"

#include "daemon/real_kernel.hpp"
#include "support/station_announcement.hpp"

#include <fstream>
#include <net/if.h>

namespace tna::test {
namespace {

class Mirror : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        config_.kernel.fdb = "mirror";
    }
    void start() {
        ASSERT_NO_FATAL_FAILURE(accelerate());
        if (IsSkipped())
            return;
        ASSERT_TRUE(watched());
        ASSERT_NO_FATAL_FAILURE(learn());
        ASSERT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    }
    static Frame broadcastOfTwo() {
        return FrameBuilder().ethernet({255, 255, 255, 255, 255, 255}, station(2)).udp();
    }
    static Frame toStation(unsigned number) {
        return FrameBuilder().ethernet(station(number), station(1)).udp();
    }
    /// Static entries behind a port, all in one go.
    static void addStations(unsigned first, unsigned count, const std::string& port,
                            const std::string& verb) {
        const std::string file = "/tmp/tna-stations-" + std::to_string(::getpid());
        {
            std::ofstream batch(file);
            for (unsigned i = 0; i < count; i++)
                batch << "fdb " << verb << " " << text(station(first + i)) << " dev " << port
                      << (verb == "del" ? " master\n" : " master static\n");
        }
        must("bridge -batch " + file);
        ::unlink(file.c_str());
    }
    std::string feature(const std::string& name) {
        const auto document = controller_->capabilities();
        for (const auto& feature : document["features"])
            if (feature["name"] == name)
                return feature["detail"];
        return {};
    }
    std::uint64_t readings() { return controller_->events()["fdb_readings"]; }
};

TEST_F(Mirror, StationThatMovesIsLinuxsFromItsFirstFrameOn) {
    ASSERT_NO_FATAL_FAILURE(start());
    blind_ = true;
    EXPECT_EQ(treat(twoToOne(), 2), (Treatment{slowPath("source-unknown"), {{0, {twoToOne()}}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
    blind_ = false;
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
    EXPECT_EQ(treat(twoToOne(), 2), (Treatment{fastPath(), {{0, {twoToOne()}}}}));
}

TEST_F(Mirror, StationThatMovesByABroadcastIsLinuxsAtOnce) {
    ASSERT_NO_FATAL_FAILURE(start());
    blind_ = true;
    EXPECT_EQ(treat(broadcastOfTwo(), 2).path, slowPath("multicast"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
}

TEST_F(Mirror, StationThatMovesByAFrameTooShortToForwardIsLinuxsAtOnce) {
    ASSERT_NO_FATAL_FAILURE(start());
    blind_ = true;
    auto shorter = twoToOne();
    shorter.bytes.resize(20);
    EXPECT_EQ(treat(shorter, 2), (Treatment{slowPath("short"), {{0, {shorter}}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
}

/// A port with a setting against it keeps its program, so that it is seen who comes.
TEST_F(Mirror, StationThatMovesToAPortWithASettingIsLinuxsFromItsFirstFrameOn) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("bridge link set dev p2 vlan_tunnel on");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    blind_ = true;
    EXPECT_EQ(treat(twoToOne(), 2), (Treatment{slowPath("port-flags"), {{0, {twoToOne()}}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
    blind_ = false;
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{2, {oneToTwo()}}}));
    must("bridge link set dev p2 vlan_tunnel off");
    EXPECT_EQ(treat(twoToOne(), 2).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
}

/// Whoever was the master of a virtual router before (VRRP) was behind a port, and the bridge still knows it
/// there. That a device on the bridge has the address now makes the bridge want all frames, as Linux tells
/// nobody.
TEST_F(Mirror, StationThatIsADeviceOnTheBridgeNowGetsItsFrames) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link add link br0 name mv0 address " + text(station(2)) + " type macvlan mode private");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}})) << "it is down";
    must("ip link set mv0 up");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("bridge-promisc"), {{1, {oneToTwo()}}}}));
    must("ip link set mv0 down");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

/// It moves, which is not announced yet, and then sends from where it was, where a filter drops its frame.
TEST_F(Mirror, FrameThatLinuxDoesNotLearnFromBringsNoStationBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("nft add table netdev t");
    must("nft add chain netdev t c { type filter hook ingress device p1 priority 0; policy drop; }");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    blind_ = true;
    EXPECT_EQ(treat(twoToOne(), 2).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{slowPath("netdev-hook"), {}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
    blind_ = false;
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{2, {oneToTwo()}}}));
    EXPECT_EQ(treat(twoToOne(), 2).out, (Arrivals{{0, {twoToOne()}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
}

/// As the one before it: bridges can be told not to learn from such frames.
TEST_F(Mirror, FrameToALinkLocalAddressBringsNoStationBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link set br0 type bridge no_linklocal_learn 1");
    blind_ = true;
    EXPECT_EQ(treat(twoToOne(), 2).out, (Arrivals{{0, {twoToOne()}}}));
    treat(FrameBuilder().ethernet({0x01, 0x80, 0xc2, 0, 0, 0x0e}, station(2)).udp(), 1);
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("station-moved"), {{2, {oneToTwo()}}}}));
}

TEST_F(Mirror, OldAnnouncementDoesNotBringAStationBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    blind_ = true;
    // Two moves: when the controller takes in the first, the station has long been elsewhere.
    EXPECT_EQ(treat(twoToOne(), 2).path, slowPath("source-unknown"));
    EXPECT_EQ(treat(twoToOne(), 1).path, slowPath("source-unknown"));
    EXPECT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));
    blind_ = false;
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

TEST_F(Mirror, StickyStationStaysWhereItIs) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static sticky");
    EXPECT_EQ(treat(twoToOne(), 2).path, slowPath("source-unknown"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

TEST_F(Mirror, RemovedStationIsFlooded) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    EXPECT_EQ(treat(oneToTwo()),
              (Treatment{slowPath("unknown-unicast"), {{1, {oneToTwo()}}, {2, {oneToTwo()}}}}));
}

TEST_F(Mirror, FlushedPortIsFlooded) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link set p1 type bridge_slave fdb_flush");
    EXPECT_EQ(treat(oneToTwo()),
              (Treatment{slowPath("unknown-unicast"), {{1, {oneToTwo()}}, {2, {oneToTwo()}}}}));
}

TEST_F(Mirror, HostsOwnAddressIsLinuxs) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("ip link set br0 address " + text(station(9)));
    EXPECT_EQ(treat(toStation(9)), (Treatment{slowPath("local"), {}}));
}

TEST_F(Mirror, TaggedFramesCrossABridgeWithoutVlanFilteringAsTheyAre) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto tagged = FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 7).udp();
    EXPECT_EQ(treat(tagged), (Treatment{fastPath(), {{1, {tagged}}}}));
}

TEST_F(Mirror, IsCompleteAgainAfterLostAnnouncements) {
    seams_.stationsBuffer = 1; // the kernel makes it as small as it can
    ASSERT_NO_FATAL_FAILURE(start());
    const auto before = readings();
    addStations(1000, 500, "p2", "add");
    must("bridge fdb replace " + text(station(2)) + " dev p2 master static");
    catchUp();
    EXPECT_GT(readings(), before) << "nothing was lost";
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
    EXPECT_EQ(treat(toStation(1499)), (Treatment{fastPath(), {{2, {toStation(1499)}}}}));
    addStations(1000, 500, "p2", "del");
    EXPECT_EQ(treat(toStation(1000)).path, slowPath("unknown-unicast"));
    EXPECT_EQ(treat(toStation(1499)).path, slowPath("unknown-unicast"));
}

/// Linux announces what several processors do at the same time in any order.
TEST_F(Mirror, AnnouncementAfterTheRemovalDoesNotBringAStationBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    ASSERT_NO_FATAL_FAILURE(announceStation(RTM_NEWNEIGH, station(2), "p1"));
    EXPECT_EQ(treat(oneToTwo()),
              (Treatment{slowPath("unknown-unicast"), {{1, {oneToTwo()}}, {2, {oneToTwo()}}}}));
}

TEST_F(Mirror, AnnouncementAfterALaterOneDoesNotMoveAStation) {
    ASSERT_NO_FATAL_FAILURE(start());
    must("bridge fdb replace " + text(station(2)) + " dev p2 master static");
    ASSERT_NO_FATAL_FAILURE(announceStation(RTM_NEWNEIGH, station(2), "p1"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
}

TEST_F(Mirror, IsComparedWithLinuxWhenTheConfigurationIsRead) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(announceStation(RTM_NEWNEIGH, station(9), "p2"));
    EXPECT_EQ(treat(toStation(9)), (Treatment{fastPath(), {{2, {toStation(9)}}}}));
    controller_->setConfig(config_);
    EXPECT_EQ(treat(toStation(9)),
              (Treatment{slowPath("unknown-unicast"), {{1, {toStation(9)}}, {2, {toStation(9)}}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
}

TEST_F(Mirror, StationsThatFindNoRoomStayWithLinux) {
    config_.limits.maxStations = 64;
    ASSERT_NO_FATAL_FAILURE(start());
    addStations(1000, 100, "p2", "add");
    unsigned slow = 0;
    for (unsigned number = 1000; number < 1100; number++) {
        const auto treated = treat(toStation(number));
        EXPECT_EQ(treated.out, (Arrivals{{2, {toStation(number)}}}));
        slow += treated.path == slowPath("unknown-unicast") ? 1 : 0;
    }
    EXPECT_GT(slow, 36U);
    EXPECT_LT(slow, 100U);
    EXPECT_THAT(feature("fdb-mirror"), ::testing::HasSubstr("found none and stay with Linux"));
    addStations(1000, 90, "p2", "del");
    for (unsigned number = 1090; number < 1100; number++)
        EXPECT_EQ(treat(toStation(number)), (Treatment{fastPath(), {{2, {toStation(number)}}}}));
    EXPECT_THAT(feature("fdb-mirror"), ::testing::Not(::testing::HasSubstr("found none")));
}

TEST_F(Mirror, LinuxSeesOneFrameOfEachStationNowAndThen) {
    must("ip link set br0 type bridge ageing_time 640"); // so every tenth of a second
    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    EXPECT_TRUE(eventually(
        [&] {
            catchUp();
            for (int frame = 0; frame < 20; frame++)
                far(0).send(oneToTwo());
            settle();
            const auto path = counted(0);
            const auto refreshed = path.slow.find("refresh");
            return refreshed != path.slow.end() && refreshed->second >= 3 && path.fast > refreshed->second;
        },
        std::chrono::seconds(60)));
}

TEST_F(Mirror, PortsOfLocalSendersStayWithLinuxUnlessPromised) {
    config_.ports.excludeKinds.clear();
    config_.ports.finishedFrames = {"p1"};
    auto controller = daemon::Controller::start(config_);
    TNA_EXPECT_STARTED(controller);
    const auto first = (*controller)->port("p0");
    ASSERT_TRUE(first);
    EXPECT_EQ((*first)["port"]["state"], "linux");
    EXPECT_EQ((*first)["features"][0]["reasons"][0]["code"], "unfinished-frames");
    EXPECT_EQ((*(*controller)->port("p1"))["port"]["state"], "accelerated");
}

/// A kernel whose forwarding database is laid out differently.
class WrongReader : public capability::InPlaceReader {
public:
    explicit WrongReader(deploy::KernelProbe& probe) : probe_(probe) {}
    Result<capability::PortFacts> readPort(model::IfIndex port) override { return probe_.readPort(port); }
    Result<std::optional<capability::EntryFacts>> readEntry(model::IfIndex, const model::MacAddress&,
                                                            std::uint16_t) override {
        return std::nullopt;
    }
    Result<capability::VlanFacts> readVlan(model::IfIndex port, std::uint16_t vid) override {
        return probe_.readVlan(port, vid);
    }

private:
    deploy::KernelProbe& probe_;
};

class Fallback : public Mirror {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped() && !daemon::loadProbe({}))
            GTEST_SKIP() << "this kernel cannot be read in place anyway";
        ticking_ = true;
        seams_.reader = [](deploy::KernelProbe& probe) { return std::make_unique<WrongReader>(probe); };
    }
};

TEST_F(Fallback, WhatReadsDifferentlyInPlaceIsWatched) {
    config_.kernel.fdb = "auto";
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_THAT(feature("fdb-in-place"), ::testing::HasSubstr("is not found in place"));
    EXPECT_EQ(controller_->status()["fdb"], "mirror");
}

TEST_F(Fallback, WhoInsistsOnReadingInPlaceGetsLinux) {
    config_.kernel.fdb = "in-place";
    config_.ports.excludeKinds.clear();
    auto controller = daemon::Controller::start(config_, seams_);
    ASSERT_TRUE(controller) << controller.error().sentence();
    const auto port = (*controller)->port("p0");
    ASSERT_TRUE(port);
    EXPECT_EQ((*port)["features"][0]["reasons"][0]["code"], "fdb-not-proved");
}

} // namespace
} // namespace tna::test
