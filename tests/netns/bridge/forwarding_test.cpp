// SPDX-License-Identifier: Apache-2.0
// Stations: known, unknown, moved, deleted, made static; what is cached never outlives what Linux knows.
#include "bridge_fixture.hpp"
#include "support/bridge_netlink.hpp"
#include "support/own_objects.hpp"

#include <linux/neighbour.h>
#include <tna/fastpath.h>

namespace tna::test {
namespace {

class Forwarding : public AcceleratedBridgeTest {
protected:
    void SetUp() override {
        AcceleratedBridgeTest::SetUp();
        if (!IsSkipped()) {
            ASSERT_EQ(treat(oneToTwo()), fast(1)); // and is cached from now on
        }
    }
    static Treatment fast(unsigned to, const Frame& frame = oneToTwo()) {
        return {fastPath(), {{to, {frame}}}};
    }
    static Treatment slow(const std::string& reason, std::initializer_list<unsigned> to,
                          const Frame& frame = oneToTwo()) {
        Treatment treatment{slowPath(reason), {}};
        for (const auto port : to)
            treatment.out[port] = {frame};
        return treatment;
    }
    static Frame between(unsigned from, unsigned to) {
        return FrameBuilder().ethernet(station(to), station(from)).udp();
    }
    static void entry(const std::string& words) {
        const auto result = command({"sh", "-c", "bridge fdb " + words});
        ASSERT_EQ(result.exitCode, 0) << words << ": " << result.output;
    }
    const std::string one = text(station(1));
    const std::string two = text(station(2));
};

TEST_F(Forwarding, KnownUnicastIsForwardedUnchangedInBothDirections) {
    EXPECT_EQ(treat(oneToTwo()), fast(1));
    EXPECT_EQ(treat(twoToOne(), 1), fast(0, twoToOne()));
}

TEST_F(Forwarding, UnknownSourceIsLeftToLinuxWhichLearnsIt) {
    EXPECT_EQ(treat(between(7, 2)), slow("source-unknown", {1}, between(7, 2)));
    EXPECT_EQ(treat(between(7, 2)), fast(1, between(7, 2)));
}

TEST_F(Forwarding, UnknownDestinationIsFloodedByLinux) {
    EXPECT_EQ(treat(between(1, 99)), slow("unknown-unicast", {1, 2}, between(1, 99)));
}

TEST_F(Forwarding, FramesForTheHostAreLeftToLinux) {
    entry("add 02:00:00:00:55:55 dev p1 master permanent");
    const auto forPort = FrameBuilder().ethernet({2, 0, 0, 0, 0x55, 0x55}, station(1)).udp();
    EXPECT_EQ(treat(forPort), slow("local", {}));
    must("ip link set br0 address 02:00:00:00:00:b0");
    const auto forBridge = FrameBuilder().ethernet({2, 0, 0, 0, 0, 0xb0}, station(1)).udp();
    EXPECT_EQ(treat(forBridge), slow("local", {}));
    EXPECT_EQ(treat(forBridge), slow("local", {}));
}

TEST_F(Forwarding, DestinationBehindTheSamePortIsLeftToLinuxWhichDropsIt) {
    treat(between(3, 2));
    EXPECT_EQ(treat(between(1, 3)), slow("same-port", {}));
    EXPECT_EQ(treat(between(1, 3)), slow("same-port", {}));
    EXPECT_EQ(treat(between(1, 1)), slow("same-port", {}));
}

TEST_F(Forwarding, HairpinSendsAFrameBackByLinux) {
    treat(between(3, 2));
    must("bridge link set dev p0 hairpin on");
    EXPECT_EQ(treat(between(1, 3)), slow("same-port", {0}, between(1, 3)));
    EXPECT_EQ(treat(between(1, 3)), slow("same-port", {0}, between(1, 3)));
}

TEST_F(Forwarding, StationThatMovesIsServedAtItsNewPortAtOnce) {
    EXPECT_EQ(treat(twoToOne(), 2), slow("source-unknown", {0}, twoToOne()));
    EXPECT_EQ(treat(oneToTwo()), fast(2));
    EXPECT_EQ(treat(twoToOne(), 1), slow("source-unknown", {0}, twoToOne()));
    EXPECT_EQ(treat(oneToTwo()), fast(1));
}

TEST_F(Forwarding, SourceThatMovesIsLearntAtItsNewPortAtOnce) {
    EXPECT_EQ(treat(oneToTwo(), 2), slow("source-unknown", {1}));
    EXPECT_EQ(treat(oneToTwo(), 2), fast(1));
    EXPECT_EQ(treat(oneToTwo(), 0), slow("source-unknown", {1}));
}

TEST_F(Forwarding, DestinationThatMovesToThePortOfTheSource) {
    EXPECT_EQ(treat(twoToOne(), 0), slow("source-unknown", {}));
    EXPECT_EQ(treat(oneToTwo()), slow("same-port", {}));
}

TEST_F(Forwarding, DestinationMovedByTheOperator) {
    entry("replace " + two + " dev p2 master static");
    EXPECT_EQ(treat(oneToTwo()), fast(2));
}

/// Frames count at the port that they came in by.
TEST_F(Forwarding, SourceMovedByTheOperator) {
    entry("replace " + one + " dev p2 master static");
    EXPECT_EQ(treat(oneToTwo(), 2), fast(1));
}

TEST_F(Forwarding, DeletedDestinationIsFloodedFromTheNextFrameOn) {
    entry("del " + two + " dev p1 master");
    EXPECT_EQ(treat(oneToTwo()), slow("unknown-unicast", {1, 2}));
    entry("add " + two + " dev p1 master static");
    EXPECT_EQ(treat(oneToTwo()), fast(1));
}

TEST_F(Forwarding, DeletedSourceIsLearntAgain) {
    entry("del " + one + " dev p0 master");
    EXPECT_EQ(treat(oneToTwo()), slow("source-unknown", {1}));
    EXPECT_EQ(treat(oneToTwo()), fast(1));
}

TEST_F(Forwarding, FlushedEntriesAreLearntAgain) {
    must("ip link set br0 type bridge fdb_flush");
    EXPECT_EQ(treat(oneToTwo()), slow("source-unknown", {1, 2}));
    EXPECT_EQ(treat(oneToTwo()), slow("unknown-unicast", {1, 2}));
    EXPECT_EQ(treat(twoToOne(), 1), slow("source-unknown", {0}, twoToOne()));
    EXPECT_EQ(treat(oneToTwo()), fast(1));
}

TEST_F(Forwarding, DestinationTurnedIntoTheHostsOwn) {
    entry("replace " + two + " dev p1 master permanent");
    EXPECT_EQ(treat(oneToTwo()), slow("local", {}));
}

TEST_F(Forwarding, SourceTurnedIntoTheHostsOwnIsDroppedByLinux) {
    controller_.reset();
    entry("replace " + one + " dev p0 master permanent");
    const auto linux = treat(oneToTwo()).out;
    entry("replace " + one + " dev p0 master dynamic");
    ASSERT_EQ(treat(oneToTwo()).out, (Arrivals{{1, {oneToTwo()}}}));
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_EQ(treat(oneToTwo()), fast(1));
    entry("replace " + one + " dev p0 master permanent");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("source-invalid"), linux}));
}

TEST_F(Forwarding, EntriesOfAllKindsAreUsed) {
    for (const std::string kind :
         {"static", "static sticky", "dynamic", "extern_learn", "dynamic extern_learn"}) {
        entry("replace " + two + " dev p1 master " + kind);
        EXPECT_EQ(treat(oneToTwo()), fast(1)) << "destination: " << kind;
        entry("del " + two + " dev p1 master");
        entry("add " + two + " dev p1 master static");
        entry("replace " + one + " dev p0 master " + kind);
        EXPECT_EQ(treat(oneToTwo()), fast(1)) << "source: " << kind;
        entry("del " + one + " dev p0 master");
        treat(oneToTwo());
    }
}

TEST_F(Forwarding, StickySourceOnAnotherPortIsNotLearntHere) {
    entry("replace " + one + " dev p2 master static sticky");
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(oneToTwo()), slow("source-unknown", {1}));
}

TEST_F(Forwarding, StickyDestinationStaysWhereItIs) {
    entry("replace " + two + " dev p1 master static sticky");
    EXPECT_EQ(treat(twoToOne(), 2), slow("source-unknown", {0}, twoToOne()));
    EXPECT_EQ(treat(oneToTwo()), fast(1));
}

TEST_F(Forwarding, EntriesOfAVlanAreNotThoseOfFramesWithout) {
    if (command({"bridge", "fdb", "add", two, "dev", "p2", "master", "static", "vlan", "5"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridge knows no VLANs";
    EXPECT_EQ(treat(oneToTwo()), fast(1));
    entry("del " + two + " dev p1 master");
    EXPECT_EQ(treat(oneToTwo()), slow("unknown-unicast", {1, 2}));
}

/// Linux looks at entries of group addresses for no frame.
TEST_F(Forwarding, StaticEntriesOfGroupAddressesChangeNothing) {
    const Mac group{1, 0, 0x5e, 0, 0, 5};
    const auto frame = FrameBuilder().ethernet(group, station(1)).udp();
    if (command({"bridge", "fdb", "add", text(group), "dev", "p1", "master", "static"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no such entries";
    EXPECT_EQ(treat(frame), slow("multicast", {1, 2}, frame));
    entry("del " + text(group) + " dev p1 master");
    entry("add " + text(group) + " dev p0 master static");
    const auto from = FrameBuilder().ethernet(station(2), group).udp();
    EXPECT_EQ(treat(from), slow("source-invalid", {}));
}

/// A station that is locked (MAC authentication bypass) has not been let in yet. Its port is locked, too.
TEST_F(Forwarding, LockedStations) {
    constexpr std::uint16_t mab = 40; // IFLA_BRPORT_MAB
    const auto lock = [&] {
        must("bridge link set dev p0 locked on");
        return setPortFlag("p0", mab, true);
    };
    controller_.reset();
    if (const int error = lock(); error != 0)
        GTEST_SKIP() << "this kernel has no MAC authentication bypass: " << std::strerror(error);
    const auto from = treat(between(7, 2)).out;
    const auto to = treat(between(2, 7), 1).out;
    EXPECT_EQ(setPortFlag("p0", mab, false), 0);
    must("bridge link set dev p0 locked off");
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_EQ(treat(oneToTwo()), fast(1));
    ASSERT_EQ(lock(), 0);
    EXPECT_EQ(treat(between(7, 2)), (Treatment{slowPath("port-flags"), from}));
    EXPECT_EQ(treat(between(2, 7), 1), (Treatment{slowPath("egress-port-flags"), to}));
}

TEST_F(Forwarding, BytesAreCountedAtBothPorts) {
    const auto in = controller_->port("p0");
    const auto out = controller_->port("p1");
    EXPECT_EQ((*in)["port"]["fast_bytes"], oneToTwo().bytes.size());
    EXPECT_EQ((*out)["port"]["fast_out_packets"], 1);
    EXPECT_EQ((*out)["port"]["fast_out_bytes"], oneToTwo().bytes.size());
}

/// More pairs of stations than the flow cache holds: entries are thrown out and filled again.
TEST_F(Forwarding, MorePairsOfStationsThanAreCached) {
    constexpr unsigned stations = 300;
    for (unsigned i = 0; i < stations; i++)
        treat(between(1000 + i, 2));
    const auto before = counted(0);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < stations; i++) {
            far(0).send(between(1000 + i, 2));
            EXPECT_EQ(arrivesAt(1), between(1000 + i, 2));
        }
    settle();
    EXPECT_EQ(counted(0).fast, before.fast + 2 * stations);
    EXPECT_EQ(counted(0).slow, before.slow);
}

/// Where a second decision would hide what the first one has forgotten, or is no disagreement.
class ForwardingDecidedOnce : public Forwarding {
protected:
    ForwardingDecidedOnce() { config_.kernel.selfCheck = 0; }
};

/// Linux tells who asked for it when a station that was silent speaks again; it must see that frame.
TEST_F(ForwardingDecidedOnce, StationWhoseActivityIsNotified) {
    if (const int error = setActivity("p0", station(1), FDB_NOTIFY_BIT | FDB_NOTIFY_INACTIVE_BIT); error != 0)
        GTEST_SKIP() << "this kernel does not watch stations' activity: " << std::strerror(error);
    EXPECT_EQ(treat(oneToTwo()), slow("refresh", {1}));
    // Linux takes notice in the next tick of its clock.
    EXPECT_TRUE(eventually([&] { return treat(oneToTwo()) == fast(1); }));
}

/// As the kernel uses memory again: what a flow points to has become another station of the same port.
TEST_F(ForwardingDecidedOnce, EntryThatHasBecomeAnotherStations) {
    if (watched())
        GTEST_SKIP() << "what is watched remembers no entries";
    must("bridge fdb replace " + text(station(7)) + " dev p1 master static");
    ASSERT_EQ(treat(between(1, 7)), fast(1, between(1, 7)));
    std::vector<std::uint64_t> entries;
    for (const auto& flow : entriesOfOwnMaps<tna_flow>("tna_flows"))
        if (flow.packets > 0)
            entries.push_back(flow.destination);
    ASSERT_EQ(entries.size(), 2U);
    ASSERT_NE(entries[0], entries[1]);
    changeEntriesOfOwnMaps<tna_flow>("tna_flows", [&](tna_flow& flow) {
        if (flow.packets > 0)
            flow.destination = flow.destination == entries[0] ? entries[1] : entries[0];
    });
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    EXPECT_EQ(treat(oneToTwo()), slow("unknown-unicast", {1, 2}));
}

} // namespace
} // namespace tna::test
