// SPDX-License-Identifier: Apache-2.0
// The watched pipeline where the bridge is asked: what it answers for holds for the next frame, while the
// controller sees nothing.
#include "bridge_fixture.hpp"

#include <nlohmann/json.hpp>

namespace tna::test {
namespace {

class Asking : public BridgeTest {
protected:
    /// Skipped where the kernel has no function for it.
    void SetUp() override {
        BridgeTest::SetUp();
        config_.kernel.fdb = "kfunc";
        if (!IsSkipped())
            accelerate();
        if (IsSkipped())
            return;
        learn();
        ASSERT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
        blind_ = true;
    }
    nlohmann::json guard(const std::string& name) {
        const auto document = controller_->capabilities();
        for (const auto& guard : document["guards"])
            if (guard["name"] == name)
                return guard["mode"];
        return {};
    }
};

TEST_F(Asking, IsWhatTheDaemonTells) {
    EXPECT_EQ(controller_->status()["fdb"], "kfunc");
    EXPECT_EQ(guard("bridge"), "live");
    EXPECT_EQ(guard("tc"), "watched");
}

TEST_F(Asking, StationThatMovesIsFollowedAtOnce) {
    EXPECT_EQ(treat(twoToOne(), 2), (Treatment{slowPath("source-unknown"), {{0, {twoToOne()}}}}));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{2, {oneToTwo()}}}}));
    EXPECT_EQ(treat(twoToOne(), 2), (Treatment{fastPath(), {{0, {twoToOne()}}}}));
}

TEST_F(Asking, StationThatIsDeletedIsFloodedByLinux) {
    must("bridge fdb del " + text(station(2)) + " dev p1 master");
    EXPECT_EQ(treat(oneToTwo()),
              (Treatment{slowPath("unknown-unicast"), {{1, {oneToTwo()}}, {2, {oneToTwo()}}}}));
}

TEST_F(Asking, StationOfTheHostIsItsOwn) {
    must("bridge fdb replace " + text(station(2)) + " dev p1 master permanent");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("local"), {}}));
}

TEST_F(Asking, PortsThatDoNotForward) {
    must("bridge link set dev p1 state 0");
    EXPECT_EQ(treat(oneToTwo()).path, slowPath("egress-stp-state"));
    must("bridge link set dev p1 state 3");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    must("bridge link set dev p0 state 0");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("stp-state"), {}}));
}

TEST_F(Asking, IsolatedPorts) {
    must("bridge link set dev p0 isolated on");
    must("bridge link set dev p1 isolated on");
    const auto treated = treat(oneToTwo());
    EXPECT_EQ(treated.out, Arrivals{});
    EXPECT_EQ(treated.path.fast, 0U);
}

struct Retagging {
    const char* name;
    std::vector<std::string> known; ///< for bridge(8), which the controller knows
    std::vector<std::string> then;  ///< and what it does not know yet
    std::uint16_t tag;              ///< of the frame; 0: none
};
void PrintTo(const Retagging& retagging, std::ostream* out) {
    *out << retagging.name;
}

class AskingTags : public Asking, public ::testing::WithParamInterface<Retagging> {
protected:
    static void bridge(const std::vector<std::string>& lines) {
        for (const auto& line : lines)
            must("bridge " + line);
    }
};

TEST_P(AskingTags, AreNotChangedInAWayThatTheBridgeWouldNotAnyMore) {
    blind_ = false;
    if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    const auto& retagging = GetParam();
    for (const char* vid : {"5", "6"}) {
        const std::string vlan = std::string(" master static vlan ") + vid;
        bridge({std::string("vlan add dev p0 vid ") + vid, std::string("vlan add dev p1 vid ") + vid,
                "fdb replace " + text(station(1)) + " dev p0" + vlan,
                "fdb replace " + text(station(2)) + " dev p1" + vlan});
    }
    bridge(retagging.known);
    auto builder = FrameBuilder().ethernet(station(2), station(1));
    if (retagging.tag != 0)
        builder.vlan(0x8100, retagging.tag);
    const Frame frame = builder.udp();
    ASSERT_EQ(treat(frame).path, fastPath());
    blind_ = true;
    for (const auto& line : retagging.then)
        must(line);
    EXPECT_EQ(treat(frame).path, slowPath("egress-vlan"));
}

constexpr std::uint16_t urgent = 0xe000; // priority, no VLAN
INSTANTIATE_TEST_SUITE_P(
    Tag, AskingTags,
    ::testing::Values(
        Retagging{"Keep", {"vlan add dev p0 vid 5 pvid"}, {"bridge vlan add dev p1 vid 5 untagged"}, 0},
        Retagging{"Push",
                  {"vlan add dev p0 vid 5 pvid", "vlan add dev p1 vid 5 untagged"},
                  {"bridge vlan add dev p1 vid 5"},
                  0},
        Retagging{"PushAnother", {"vlan add dev p0 vid 5 pvid"}, {"bridge vlan add dev p0 vid 6 pvid"}, 0},
        Retagging{"PushOtherProtocol",
                  {"vlan add dev p0 vid 5 pvid"},
                  {"ip link set br0 type bridge vlan_protocol 802.1ad"},
                  0},
        Retagging{"Pop", {}, {"bridge vlan add dev p1 vid 5 untagged"}, 5},
        Retagging{"Write", {"vlan add dev p0 vid 5 pvid"}, {"bridge vlan add dev p0 vid 6 pvid"}, urgent}),
    [](const auto& parameter) { return parameter.param.name; });

} // namespace
} // namespace tna::test
