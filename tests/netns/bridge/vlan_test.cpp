// SPDX-License-Identifier: Apache-2.0
// VLAN devices beside a bridge without VLAN filtering, and tags that are not in the frame. Needs 802.1Q.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

class Vlan : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped() && command(words("ip link add link br0 name probe type vlan id 2")).exitCode != 0)
            GTEST_SKIP() << "this kernel has no 802.1Q";
        if (!IsSkipped())
            must("ip link del probe");
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
    }
    static std::vector<std::string> words(const std::string& text) { return {"sh", "-c", text}; }
    static Frame tagged(std::uint16_t vid) {
        return FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, vid).udp();
    }
    /// Frames that a device of the bridge's namespace has taken in.
    static std::string received(const std::string& device) {
        return command(words("ip -s -j link show " + device + " | jq .[0].stats64.rx.packets")).output;
    }
    /// What comes out of port 1 when port 0 gets a frame, and how the frame was treated.
    Path through(const PacketPort& from, const Frame& frame, const Frame& expected) {
        catchUp();
        const auto before = counted(0);
        from.send(frame);
        EXPECT_EQ(arrivesAt(1), expected);
        auto after = counted(0);
        after.fast -= before.fast;
        for (const auto& [reason, count] : before.slow)
            if ((after.slow[reason] -= count) == 0)
                after.slow.erase(reason);
        return after;
    }
};

TEST_F(Vlan, FramesForAVlanDeviceOnThePortGetThere) {
    EXPECT_EQ(through(far(0), tagged(10), tagged(10)), fastPath());
    must("ip link add link p0 name above type vlan id 10");
    must("ip link set above up");
    EXPECT_EQ(send(tagged(10)), slowPath("vlan-device"));
    EXPECT_EQ(received("above"), "1\n");
}

TEST_F(Vlan, FramesForAVlanDeviceInAnotherNamespaceGetThere) {
    const Namespace other;
    must("ip link add link p0 name above type vlan id 10");
    must("ip link set above netns " + other.name());
    {
        const auto inside = other.enter();
        must("ip link set above up");
    }
    EXPECT_EQ(send(tagged(10)), slowPath("vlan-device"));
    EXPECT_EQ(send(tagged(11)), slowPath("vlan-device"));
    EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto inside = other.enter();
    EXPECT_EQ(received("above"), "1\n");
}

TEST_F(Vlan, OtherTagsOnAPortWithAVlanDeviceAreLeftToLinuxWhichBridgesThem) {
    must("ip link add link p0 name above type vlan id 10");
    must("ip link set above up");
    EXPECT_EQ(through(far(0), tagged(11), tagged(11)), slowPath("vlan-device"));
    EXPECT_EQ(received("above"), "0\n");
    EXPECT_EQ(through(far(0), oneToTwo(), oneToTwo()), fastPath());
    must("ip link del above");
    EXPECT_EQ(through(far(0), tagged(11), tagged(11)), fastPath());
}

TEST_F(Vlan, VlanDeviceOnTheBridgeOrTheEgressPortIsNoReasonToBeSlow) {
    must("ip link add link br0 name above type vlan id 10");
    must("ip link add link p1 name beside type vlan id 10");
    must("ip link set above up");
    must("ip link set beside up");
    EXPECT_EQ(through(far(0), tagged(10), tagged(10)), fastPath());
}

TEST_F(Vlan, TagThatASenderLeftToTheDriverIsNotLost) {
    const auto inside = farSide_->enter();
    must("ip link add link far0 name far0.10 type vlan id 10");
    must("ip link set far0.10 up");
    const PacketPort sender{"far0.10"};
    EXPECT_EQ(through(sender, oneToTwo(), tagged(10)), slowPath("hidden-vlan-tag"));
    must("ethtool -K far0 tx-vlan-offload off");
    EXPECT_EQ(through(sender, oneToTwo(), tagged(10)), fastPath());
}

} // namespace
} // namespace tna::test
