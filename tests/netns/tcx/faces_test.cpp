// SPDX-License-Identifier: Apache-2.0
// Bonds and VLAN devices on them as ports at tcx, where Linux itself receives and sends by them; and what
// must not be below them. Plain Linux does each first.
#include "route_fixture.hpp"
#include "tcx_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

/// A device of some kind, "face", with what it is made of, of which "below" is the device of a cable.
struct Kind {
    const char* name;
    std::vector<std::string> make;
};
void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

const Kind bond{"Bond",
                {"modprobe -q bonding; ip link add face type bond mode active-backup miimon 50",
                 "ip link set below master face"}};
const std::vector<Kind> kinds{bond,
                              {"BondByHash",
                               {"modprobe -q bonding; ip link add face type bond mode balance-xor miimon 50",
                                "ip link set below master face"}},
                              {"VlanOfABond",
                               {"modprobe -q bonding; ip link add b1 type bond mode active-backup miimon 50",
                                "ip link set below master b1", "ip link set b1 up",
                                "modprobe -q 8021q; ip link add face link b1 type vlan id 7"}}};

template <typename Base>
class Face : public AtTcx<Base> {
protected:
    void SetUp() override {
        AtTcx<Base>::SetUp();
        for (const auto* kind : {"bond", "team", "vlan"})
            this->config_.ports.tcxKinds.emplace_back(kind);
        if (!this->IsSkipped())
            must("ip link add below type veth peer name far3 netns " + this->farSide_->name());
    }
    /// False if that is not to be had here.
    void make(const Kind& kind) {
        this->inFar("ip link set far3 up");
        for (const auto& words : kind.make)
            if (const auto result = command({"sh", "-c", words}); !this->IsSkipped() && result.exitCode != 0)
                GTEST_SKIP() << "this kernel has not what it takes: " << words << ": " << result.output;
        if (this->IsSkipped())
            return;
        must("ip link set below up");
        {
            const auto inside = this->farSide_->enter();
            this->farPorts_[3].emplace("far3");
        }
        tagged_ = kind.name == std::string_view("VlanOfABond");
    }
    void isAccelerated() {
        ASSERT_NO_FATAL_FAILURE(this->accelerateAtTcx());
        if (!this->IsSkipped()) {
            ASSERT_TRUE(this->reaches("face", "accelerated"));
        }
    }
    /// As it is on the cable.
    [[nodiscard]] Frame onCable(const Frame& frame) const {
        Frame tagged = frame;
        if (tagged_)
            tagged.bytes.insert(tagged.bytes.begin() + 12, {0x81, 0x00, 0x00, 0x07});
        return tagged;
    }
    [[nodiscard]] std::uint64_t fastFromFace() const {
        return (*this->controller_->port("face"))["port"]["fast_packets"];
    }

    bool tagged_ = false;
};

class FaceInABridge : public Face<TcxTest> {
protected:
    void make(const Kind& kind) {
        Face::make(kind);
        if (IsSkipped() || HasFatalFailure())
            return;
        must("ip link set face master br0 up");
        must("bridge fdb replace " + text(station(4)) + " dev face master static");
        ASSERT_TRUE(eventually([&] { return treat(toFace()).out == usual(); }, std::chrono::seconds(20)));
    }
    static Frame toFace() { return FrameBuilder().ethernet(station(4), station(1)).udp(); }
    static Frame fromFace() { return FrameBuilder().ethernet(station(1), station(4)).udp(); }
    [[nodiscard]] Arrivals usual() const { return {{3, {onCable(toFace())}}}; }
};

class FacesInABridge : public FaceInABridge, public ::testing::WithParamInterface<Kind> {};

TEST_P(FacesInABridge, AreFastInBothDirections) {
    ASSERT_NO_FATAL_FAILURE(make(GetParam()));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
    const auto before = fastFromFace();
    EXPECT_EQ(treat(onCable(fromFace()), 3).out, (Arrivals{{0, {fromFace()}}}));
    EXPECT_EQ(fastFromFace(), before + 1);
}
INSTANTIATE_TEST_SUITE_P(, FacesInABridge, ::testing::ValuesIn(kinds),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

/// What looks at packets below a bond, and how it goes.
struct Below {
    const char* name;
    std::vector<std::string> set;
    std::string unset;
};

const std::string all = " egress protocol all u32 match u32 0 0 flowid 1:1";
const std::vector<std::string> deep{"ip link add deep type dummy", "ip link set deep up",
                                    "ip link add link deep name deeper type vlan id 9"};

std::vector<std::string> behind(std::vector<std::string> some, const std::vector<std::string>& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

TEST_F(FaceInABridge, WhatLooksAtPacketsBelowABondMakesThemLinuxs) {
    ASSERT_NO_FATAL_FAILURE(make(bond));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    std::vector<std::string> many;
    for (int i = 0; i < 16; i++) // with the one that there is, one more than are looked at
        many.push_back(fmt::format("ip link add n{0} type dummy && ip link set n{0} master face", i));
    const Below rows[] = {
        {"filter",
         {"tc qdisc add dev below clsact", "tc filter add dev below" + all},
         "tc qdisc del dev below clsact"},
        {"queue",
         {"tc qdisc add dev below root tbf rate 1gbit burst 1m latency 50ms"},
         "tc qdisc del dev below root"},
        {"rules",
         {"nft 'add table netdev t; add chain netdev t c { type filter hook egress device below priority 0; "
          "}'"},
         "nft delete table netdev t"},
        {"filter of another member",
         {"ip link add other type dummy", "ip link set other master face", "tc qdisc add dev other clsact",
          "tc filter add dev other" + all},
         "ip link del other"},
        {"filter of the lowest",
         behind(deep, {"ip link set deeper master face", "tc qdisc add dev deep clsact",
                       "tc filter add dev deep" + all}),
         "ip link del deep"},
        {"something deeper",
         behind(deep, {"ip link set deeper up", "ip link add link deeper name deepest type vlan id 9",
                       "ip link set deepest master face"}),
         "ip link del deep"},
        {"more members than are looked at", many, "rmmod dummy"}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        ASSERT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
        run(row.set);
        EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), usual()}));
        run({row.unset});
    }
    ASSERT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
    run(behind(deep, {"ip link set deeper master face"}));
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()})) << "two devices deep";
}

TEST_F(FaceInABridge, GenericXdpAtTheOtherEndHasEveryFrame) {
    config_.kernel.selfCheck = 0; // which would have another look at each frame
    ASSERT_NO_FATAL_FAILURE(make(bond));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    ASSERT_EQ(treat(toFace()).path, fastPath());
    dropsAll("far3");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), {}}));
}

class RoutedFace : public Face<RouteTest> {
protected:
    void make(const Kind& kind) {
        Face::make(kind);
        if (IsSkipped() || HasFatalFailure())
            return;
        must("ip link set face address " + text(portMac(3)) + " up");
        becomes("face", 3);
        ASSERT_TRUE(eventually([&] { return treat(toFace()).out == usual(); }, std::chrono::seconds(20)));
    }
    static Frame toFace() { return packet({.to = "10.0.3.2"}); }
    static Frame fromFace() {
        return ipv4Frame(portMac(3), station(4), {.from = "10.0.3.2", .to = "10.0.0.2"});
    }
    [[nodiscard]] Arrivals usual() const { return {{3, {onCable(routed(toFace(), 3))}}}; }
};

class RoutedFaces : public RoutedFace, public ::testing::WithParamInterface<Kind> {};

TEST_P(RoutedFaces, AreFastInBothDirections) {
    ASSERT_NO_FATAL_FAILURE(make(GetParam()));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    if (IsSkipped())
        return;
    const std::string port = tagged_ ? "b1" : "face";
    ASSERT_TRUE(reaches(port, "accelerated"));
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
    const auto fast = [&] { return (*controller_->port(port))["port"]["fast_packets"].get<int>(); };
    const auto before = fast();
    EXPECT_EQ(treat(onCable(fromFace()), 3).out, routedTo(fromFace(), 0));
    EXPECT_EQ(fast(), before + 1);
}
INSTANTIATE_TEST_SUITE_P(, RoutedFaces, ::testing::ValuesIn(kinds),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(RoutedFace, FiltersBelowAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(make(bond));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    ASSERT_EQ(treat(toFace()).path, fastPath());
    must("tc qdisc add dev below clsact");
    must("tc filter add dev below egress protocol all u32 match u32 0 0 flowid 1:1");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), usual()}));
    must("tc qdisc del dev below clsact");
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
}

/// Frames in these tests have a socket of this machine's.
TEST_F(RoutedFace, SendersWhoseSocketAQueueBelowWouldSeeAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(make(bond));
    if (IsSkipped())
        return;
    if (command({"tc", "qdisc", "add", "dev", "below", "root", "fq"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no fq";
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("sender-socket"), usual()}));
}

/// Whether a packet is this host's is said by the address of the member that it came in by.
TEST_F(RoutedFace, PacketsForAnotherAddressThanTheMembersAreLinuxs) {
    ASSERT_NO_FATAL_FAILURE(make(bond));
    if (IsSkipped())
        return;
    ASSERT_NO_FATAL_FAILURE(isAccelerated());
    if (IsSkipped())
        return;
    EXPECT_EQ(treat(fromFace(), 3).out, routedTo(fromFace(), 0));
    const auto fast = fastFromFace();
    must("ip link set below address " + text(station(0x300)));
    must("ip link set face address " + text(portMac(3)));
    must("ip link set below address " + text(station(0x300)));
    EXPECT_EQ(treat(fromFace(), 3).out, Arrivals{});
    EXPECT_EQ(fastFromFace(), fast);
}

} // namespace
} // namespace tna::test
