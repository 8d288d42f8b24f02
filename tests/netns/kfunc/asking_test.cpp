// SPDX-License-Identifier: Apache-2.0
// The watched pipeline where the bridge is asked: what it answers for holds for the next frame, while the
// controller sees nothing.
#include "bridge_fixture.hpp"

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

TEST_F(Asking, TagOfAVlanThatTheControllerDoesNotKnowYet) {
    if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    must("bridge vlan add dev p1 vid 1 pvid");
    (void)treat(oneToTwo()); // stations are known by VLAN now
    (void)treat(twoToOne(), 1);
    const auto linux = treat(oneToTwo());
    EXPECT_EQ(linux.path, slowPath("egress-vlan"));
    blind_ = false;
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), linux.out}));
}

} // namespace
} // namespace tna::test
