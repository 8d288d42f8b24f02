// SPDX-License-Identifier: Apache-2.0
// Frames of all shapes: on either path, what comes out is what plain Linux sends.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

struct Case {
    std::string name;
    Frame frame;
    std::string reason; ///< empty: the fast path takes it
};

FrameBuilder fromOneToTwo() {
    return FrameBuilder().ethernet(station(2), station(1));
}
FrameBuilder to(const Mac& destination) {
    return FrameBuilder().ethernet(destination, station(1));
}
std::string number(const std::string& what, unsigned value) {
    return what + " " + fmt::format("{:#x}", value);
}

class Frames : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            learn();
    }
    /// Each frame through plain Linux first, then with the fast path in front.
    void expectAsLinux(const std::vector<Case>& cases) {
        std::vector<Arrivals> linux;
        for (const auto& one : cases)
            linux.push_back(treat(one.frame).out);
        ASSERT_NO_FATAL_FAILURE(accelerate());
        if (IsSkipped())
            return;
        const Treatment usual{fastPath(), {{1, {oneToTwo()}}}};
        ASSERT_EQ(treat(oneToTwo()), usual);
        for (std::size_t i = 0; i < cases.size(); i++) {
            const auto path = cases[i].reason.empty() ? fastPath() : slowPath(cases[i].reason);
            EXPECT_EQ(treat(cases[i].frame), (Treatment{path, linux[i]})) << cases[i].name;
            if (cases[i].reason.empty()) {
                EXPECT_EQ(linux[i], (Arrivals{{1, {cases[i].frame}}})) << cases[i].name;
            }
        }
        EXPECT_EQ(treat(oneToTwo()), usual);
    }
};

TEST_F(Frames, OfAnyEtherTypeButThoseTheBridgeMayAnswer) {
    std::vector<Case> cases;
    for (const unsigned type : {0x0600U, 0x0601U, 0x0800U, 0x86ddU, 0x8847U, 0x8863U, 0x8864U, 0x888eU,
                                0x88ccU, 0x88e5U, 0x88f7U, 0x9000U, 0xffffU})
        cases.push_back({number("EtherType", type),
                         fromOneToTwo().etherType(static_cast<std::uint16_t>(type)).raw(60),
                         {}});
    // ARP, RARP, MRP, CFM, and lengths (LLC) up to the limit
    for (const unsigned type :
         {0x0806U, 0x8035U, 0x88e3U, 0x8902U, 0x0000U, 0x0001U, 0x0026U, 0x003cU, 0x05dcU, 0x05ffU})
        cases.push_back({number("EtherType", type),
                         fromOneToTwo().etherType(static_cast<std::uint16_t>(type)).raw(60), "protocol"});
    expectAsLinux(cases);
}

TEST_F(Frames, OfAnySizeFromTheShortestOn) {
    std::vector<Case> cases;
    for (std::size_t size = 14; size <= 80; size++)
        for (const std::uint16_t type : std::initializer_list<std::uint16_t>{0x0800, 0x86dd, 0x88b5})
            cases.push_back({fmt::format("{} bytes, EtherType {:#x}", size, type),
                             fromOneToTwo().etherType(type).raw(size - 14), size < 34 ? "short" : ""});
    for (const std::size_t payload : {100, 511, 1000, 1471, 1472})
        cases.push_back({fmt::format("UDP with {} bytes", payload), fromOneToTwo().udp(payload), {}});
    expectAsLinux(cases);
}

TEST_F(Frames, TaggedOnesCrossABridgeWithoutVlanFilteringAsTheyAre) {
    std::vector<Case> cases;
    for (const std::uint16_t protocol : std::initializer_list<std::uint16_t>{0x8100, 0x88a8}) {
        for (const std::uint16_t tci : std::initializer_list<std::uint16_t>{0, 1, 0x0fff, 0xe000, 0xe00a})
            cases.push_back({fmt::format("tag {:#x} {:#x}", protocol, tci),
                             fromOneToTwo().vlan(protocol, tci).udp(),
                             {}});
        for (const std::uint16_t type :
             std::initializer_list<std::uint16_t>{0x0806, 0x8035, 0x88e3, 0x8902, 0x0040})
            cases.push_back({fmt::format("tag {:#x}, EtherType {:#x}", protocol, type),
                             fromOneToTwo().vlan(protocol, 5).etherType(type).raw(60), "protocol"});
        cases.push_back({"two tags", fromOneToTwo().vlan(protocol, 5).vlan(0x8100, 6).udp(), {}});
        cases.push_back(
            {"three tags", fromOneToTwo().vlan(protocol, 5).vlan(0x8100, 6).vlan(0x8100, 7).udp(), {}});
        for (const std::size_t size : {4U, 8U, 15U})
            cases.push_back(
                {fmt::format("tag and {} bytes", size), fromOneToTwo().vlan(protocol, 5).raw(size), "short"});
        // At tcx, the outer tag is not among them any more.
        cases.push_back({"tag and 18 bytes", fromOneToTwo().vlan(protocol, 5).etherType(0x0800).raw(16),
                         atTcx() ? "short" : ""});
    }
    expectAsLinux(cases);
}

TEST_F(Frames, ToGroups) {
    std::vector<Case> cases;
    for (unsigned last = 0; last <= 0x11; last++)
        cases.push_back({number("link-local group", last),
                         to({1, 0x80, 0xc2, 0, 0, static_cast<std::uint8_t>(last)}).udp(), "multicast"});
    for (const Mac& group :
         {Mac{255, 255, 255, 255, 255, 255}, Mac{1, 0, 0x5e, 0, 0, 1}, Mac{1, 0, 0x5e, 1, 2, 3},
          Mac{0x33, 0x33, 0, 0, 0, 1}, Mac{1, 0, 0x0c, 0xcc, 0xcc, 0xcd}, Mac{3, 0, 0, 0, 0, 1}})
        cases.push_back({text(group), to(group).udp(), "multicast"});
    expectAsLinux(cases);
}

TEST_F(Frames, FromAddressesThatAreNoStations) {
    std::vector<Case> cases;
    for (const Mac& source : {Mac{}, Mac{255, 255, 255, 255, 255, 255}, Mac{3, 0, 0, 0, 0, 1},
                              Mac{1, 0x80, 0xc2, 0, 0, 0}, Mac{1, 0, 0x5e, 0, 0, 1}})
        cases.push_back({text(source), FrameBuilder().ethernet(station(2), source).udp(), "source-invalid"});
    cases.push_back({"to zero", to({}).udp(), "unknown-unicast"});
    expectAsLinux(cases);
}

TEST_F(Frames, WithBrokenIpAreBridgedLikeAnyOther) {
    std::vector<Case> cases;
    for (const std::size_t at : {14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 38, 39})
        for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0, 0x0f, 0xff}) {
            auto frame = oneToTwo();
            frame.bytes[at] = value;
            cases.push_back({fmt::format("byte {} is {}", at, value), frame, {}});
        }
    expectAsLinux(cases);
}

class Jumbo : public Frames {
protected:
    void SetUp() override {
        Frames::SetUp();
        if (IsSkipped())
            return;
        for (const std::string n : {"0", "1", "2"}) {
            inFar("ip link set far" + n + " mtu 9000");
            must("ip link set p" + n + " mtu 9000");
        }
    }
};

/// Ports with a large MTU are accelerated, too; what does not fit into one buffer goes to Linux.
TEST_F(Jumbo, FramesInSeveralBuffersAreLeftToLinuxWhole) {
    expectAsLinux({{"1500", fromOneToTwo().udp(1472), {}},
                   {"2500", fromOneToTwo().udp(2472), {}},
                   {"8000", fromOneToTwo().udp(7972), "multi-buffer"},
                   {"9000", fromOneToTwo().udp(8972), "multi-buffer"}});
}

} // namespace
} // namespace tna::test
