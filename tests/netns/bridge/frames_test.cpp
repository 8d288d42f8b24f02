// SPDX-License-Identifier: Apache-2.0
// Frames of all shapes: what comes out is what went in, on either path.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

class Frames : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
    }
    static FrameBuilder fromOneToTwo() { return FrameBuilder().ethernet(station(2), station(1)); }
};

TEST_F(Frames, AnyEtherTypeIsForwardedButThoseTheBridgeMayAnswer) {
    for (const std::uint16_t type :
         std::initializer_list<std::uint16_t>{0x0600, 0x8847, 0x8863, 0x86dd, 0x88cc, 0xffff}) {
        const auto frame = fromOneToTwo().etherType(type).raw(60);
        EXPECT_EQ(send(frame), fastPath()) << std::hex << type;
        EXPECT_EQ(arrivesAt(1), frame);
    }
    for (const std::uint16_t type :
         std::initializer_list<std::uint16_t>{0x0806, 0x8035, 0x88e3, 0x8902, 0x05ff, 0x0040})
        EXPECT_EQ(send(fromOneToTwo().etherType(type).raw(60)), slowPath("protocol")) << std::hex << type;
}

TEST_F(Frames, TaggedFramesCrossABridgeWithoutVlanFilteringAsTheyAre) {
    for (const std::uint16_t protocol : std::initializer_list<std::uint16_t>{0x8100, 0x88a8})
        for (const std::uint16_t tci : std::initializer_list<std::uint16_t>{0, 1, 0x0fff, 0xe00a}) {
            const auto frame = fromOneToTwo().vlan(protocol, tci).udp();
            EXPECT_EQ(send(frame), fastPath());
            EXPECT_EQ(arrivesAt(1), frame);
        }
    const auto twice = fromOneToTwo().vlan(0x88a8, 5).vlan(0x8100, 6).udp();
    EXPECT_EQ(send(twice), fastPath());
    EXPECT_EQ(arrivesAt(1), twice);
}

TEST_F(Frames, TaggedArpIsLeftToLinux) {
    EXPECT_EQ(send(fromOneToTwo().vlan(0x8100, 5).etherType(0x0806).raw(60)), slowPath("protocol"));
}

TEST_F(Frames, ShortFramesAreLeftToLinux) {
    for (const std::size_t size : {0, 1, 10, 19}) {
        const auto frame = fromOneToTwo().etherType(0x0800).raw(size);
        EXPECT_EQ(send(frame), slowPath("short")) << size;
        EXPECT_EQ(arrivesAt(1), frame);
    }
    const auto enough = fromOneToTwo().etherType(0x0800).raw(20);
    EXPECT_EQ(send(enough), fastPath());
    EXPECT_EQ(arrivesAt(1), enough);
}

TEST_F(Frames, EverySizeUpToTheMtuArrivesWhole) {
    for (const std::size_t size : {18, 100, 511, 1000, 1471, 1472}) {
        const auto frame = fromOneToTwo().udp(size);
        EXPECT_EQ(send(frame), fastPath()) << size;
        EXPECT_EQ(arrivesAt(1), frame);
    }
}

TEST_F(Frames, TruncatedAndMalformedIpIsBridgedLikeAnyFrame) {
    auto frame = oneToTwo();
    for (const std::size_t at : {14, 15, 16, 17, 23}) {
        frame.bytes[at] = 0xff;
        EXPECT_EQ(send(frame), fastPath());
        EXPECT_EQ(arrivesAt(1), frame);
    }
}

} // namespace
} // namespace tna::test
