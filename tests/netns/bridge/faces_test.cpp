// SPDX-License-Identifier: Apache-2.0
// Devices that are a face of others, as bridge ports: what lies below them would be passed by.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

/// A device of that kind, "face", as one more port; "below" is a device of a cable for those that need one.
struct Face {
    const char* kind;
    std::vector<std::string> make;
};
void PrintTo(const Face& face, std::ostream* out) {
    *out << face.kind;
}

class Faces : public BridgeTest, public ::testing::WithParamInterface<Face> {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        must("ip link add below type veth peer name far3 netns " + farSide_->name());
        inFar("ip link set far3 up");
        inFar("ethtool -K far3 gro on");
        for (const auto& words : GetParam().make)
            if (const auto result = command({"sh", "-c", words}); !IsSkipped() && result.exitCode != 0)
                GTEST_SKIP() << "this kernel has not what it takes: " << words << ": " << result.output;
        if (IsSkipped())
            return;
        must("ip link set below up");
        must("ip link set face master br0 up");
        must("bridge fdb replace " + text(station(3)) + " dev face master static");
        const auto inside = farSide_->enter();
        farPorts_[3].emplace("far3");
    }
    static Frame toFace() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }
};

TEST_P(Faces, AreLinuxsInBothDirections) {
    const auto linux = treat(toFace()).out;
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("face", "linux"));
    const auto document = *controller_->port("face");
    EXPECT_EQ(document["features"][0]["reasons"][0]["code"], "stacked");
    EXPECT_EQ(document["features"][0]["reasons"].size(), 1U);
    EXPECT_EQ(document["port"]["egress"], false);
    const auto frame = toFace();
    for (int i = 0; i < 2; i++) {
        const auto treatment = treat(frame);
        EXPECT_EQ(treatment.path.fast, 0U);
        EXPECT_EQ(treatment.out, linux);
    }
}

/// Even if somebody says otherwise, and whatever offloads are off.
TEST_P(Faces, CannotBeTrusted) {
    command({"ethtool", "-K", "face", "rxvlan", "off", "rx-vlan-stag-hw-parse", "off"});
    config_.ports.trustedDrivers = {"*"};
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("face", "linux"));
    EXPECT_EQ((*controller_->port("face"))["port"]["egress"], false);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Faces,
    ::testing::Values(
        Face{"Bond",
             {"modprobe -q bonding; ip link add face type bond mode active-backup miimon 100",
              "ip link set below master face"}},
        Face{"Team", {"modprobe -q team; ip link add face type team", "ip link set below master face"}},
        Face{"Macvlan", {"modprobe -q macvlan; ip link add face link below type macvlan mode passthru"}},
        Face{"Vlan", {"ip link add face link below type vlan id 7"}},
        Face{"Vxlan", {"ip link add face type vxlan id 7 remote 10.9.9.9 dstport 4789"}},
        Face{"Dummy", {"ip link add face type dummy"}}),
    [](const auto& parameter) { return std::string(parameter.param.kind); });

class BondPort : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        must("ip link add below type veth peer name far3 netns " + farSide_->name());
        inFar("ip link set far3 up");
        inFar("ethtool -K far3 gro on");
        if (const auto made = command(
                {"sh", "-c", "modprobe -q bonding; ip link add face type bond mode balance-xor miimon 100"});
            made.exitCode != 0)
            GTEST_SKIP() << "this kernel has no bonds: " << made.output;
        must("ip link set below master face");
        must("ip link set face master br0 up");
        command({"ethtool", "-K", "face", "rxvlan", "off", "rx-vlan-stag-hw-parse", "off"});
        must("bridge fdb replace " + text(station(3)) + " dev face master static");
        {
            const auto inside = farSide_->enter();
            farPorts_[3].emplace("far3");
        }
        ASSERT_TRUE(eventually([&] { return treat(toBond()).out == Arrivals{{3, {toBond()}}}; }));
    }
    static Frame toBond() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }
};

TEST_F(BondPort, FiltersOfItsMembersAreMet) {
    if (command({"sh", "-c",
                 "tc qdisc add dev below clsact && tc filter add dev below egress matchall action drop"})
            .exitCode != 0)
        GTEST_SKIP() << "this kernel has not the filters that it takes";
    ASSERT_EQ(treat(toBond()).out, Arrivals{}) << "Linux";
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("face", "linux"));
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(treat(toBond()).out, Arrivals{});
}

TEST_F(BondPort, TakesTheSettingsAndMembersThatLinuxLetsItTake) {
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("face", "linux"));
    must("ip link set face type bond xmit_hash_policy vlan+srcmac");
    must("ip link add another type dummy");
    must("ip link set another master face");
}

} // namespace
} // namespace tna::test
