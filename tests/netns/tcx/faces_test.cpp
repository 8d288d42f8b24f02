// SPDX-License-Identifier: Apache-2.0
// Bonds and VLAN devices on them as ports at tcx, where Linux itself receives and sends by them; and what
// must not be below them. Plain Linux does each first.
#include "route_fixture.hpp"
#include "tcx_fixture.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

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
const Kind byHash{"BondByHash",
                  {"modprobe -q bonding; ip link add face type bond mode balance-xor miimon 50",
                   "ip link set below master face"}};
const std::vector<Kind> kinds{bond,
                              byHash,
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
    virtual void make(const Kind& kind) {
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
    /// Makes it, and accelerates it as this port. False: the test is over.
    [[nodiscard]] bool starts(const Kind& kind, const char* port = "face") {
        make(kind);
        if (this->IsSkipped() || this->HasFatalFailure())
            return false;
        this->accelerateAtTcx();
        if (this->IsSkipped() || this->HasFatalFailure())
            return false;
        const bool there = this->reaches(port, "accelerated");
        EXPECT_TRUE(there) << port;
        return there;
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
    void make(const Kind& kind) override {
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
    if (!starts(GetParam()))
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
    if (!starts(bond))
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

/// Linux puts it into the frame, and the bond then chooses by addresses of stations only.
TEST_F(FaceInABridge, TagsOfAnotherKindThanTheBridgesAreLinuxs) {
    if (command({"sh", "-c", "ip link add v type bridge vlan_filtering 1 && ip link del v"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    must("ip link set br0 type bridge vlan_filtering 1");
    if (!starts(byHash))
        return;
    must("ip link set face type bond xmit_hash_policy layer3+4");
    (void)treat(toFace()); // its sender's entry is of another VLAN
    ASSERT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
    const auto tagged = FrameBuilder().ethernet(station(4), station(1)).vlan(0x88a8, 100).udp();
    const Treatment expected{slowPath("hidden-vlan-tag"), {{3, {tagged}}}};
    EXPECT_EQ(treat(tagged), expected);
    EXPECT_EQ(treat(tagged), expected);
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
}

/// As of one that is received for a device of its own: it stays with a frame that is redirected.
TEST_F(FaceInABridge, WhatATunnelHasNotedBelowMakesFramesLinuxs) {
    if (!starts(bond))
        return;
    const auto fastFrames = [&] {
        const auto before = fastFromFace();
        EXPECT_EQ(treat(fromFace(), 3).out, (Arrivals{{0, {fromFace()}}}));
        return fastFromFace() - before;
    };
    EXPECT_EQ(fastFrames(), 1U);
    must("tc qdisc add dev below clsact");
    must("tc filter add dev below ingress protocol all matchall action tunnel_key set src_ip 10.9.9.1 dst_ip "
         "10.9.9.2 id 7");
    EXPECT_EQ(fastFrames(), 0U);
    must("tc qdisc del dev below clsact");
    EXPECT_EQ(fastFrames(), 1U);
}

TEST_F(FaceInABridge, GenericXdpAtTheOtherEndHasEveryFrame) {
    config_.kernel.selfCheck = 0; // which would have another look at each frame
    if (!starts(bond))
        return;
    ASSERT_EQ(treat(toFace()).path, fastPath());
    dropsAll("far3");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), {}}));
}

template <typename Router>
class RoutedFaceOf : public Face<Router> {
protected:
    static constexpr bool six = std::is_base_of_v<Route6Test, Router>;

    void make(const Kind& kind) override {
        Face<Router>::make(kind);
        if (this->IsSkipped() || this->HasFatalFailure())
            return;
        must("ip link set face address " + text(this->portMac(3)) + " up");
        this->becomes("face", 3);
        ASSERT_TRUE(
            eventually([&] { return this->treat(toFace()).out == usual(); }, std::chrono::seconds(20)));
    }
    static Frame toFace() {
        if constexpr (six)
            return Router::packet({.to = "fd00:0:0:3::2"});
        else
            return Router::packet({.to = "10.0.3.2"});
    }
    static Frame fromFace() {
        if constexpr (six)
            return ipv6Frame(Router::portMac(3), station(4), {.from = "fd00:0:0:3::2", .to = "fd00::2"});
        else
            return ipv4Frame(Router::portMac(3), station(4), {.from = "10.0.3.2", .to = "10.0.0.2"});
    }
    [[nodiscard]] Arrivals usual() const { return {{3, {this->onCable(this->routed(toFace(), 3))}}}; }
    [[nodiscard]] static Arrivals usualBack() { return Router::routedTo(fromFace(), 0); }
    /// From two members, one of which has an address of its own: whether a packet is this host's is said by
    /// the address of the member that it came in by.
    void expectPacketsForAnotherAddressAreLinuxs() {
        if (!this->starts(byHash))
            return;
        must("ip link add other type veth peer name far4 netns " + this->farSide_->name());
        this->inFar("ip link set far4 up");
        must("ip link set other master face");
        must("ip link set other up");
        {
            const auto inside = this->farSide_->enter();
            this->farPorts_[4].emplace("far4");
        }
        ASSERT_TRUE(eventually([&] { return this->treat(fromFace(), 4).out == usualBack(); },
                               std::chrono::seconds(20)));
        must("ip link set below address " + text(station(0x300)));
        const auto fastBy = [&](unsigned far, const Arrivals& out) {
            const auto before = this->fastFromFace();
            EXPECT_EQ(this->treat(fromFace(), far).out, out);
            return this->fastFromFace() - before;
        };
        EXPECT_EQ(fastBy(4, usualBack()), 1U);
        EXPECT_EQ(fastBy(3, {}), 0U);
        EXPECT_EQ(fastBy(4, usualBack()), 1U);
    }
};
using RoutedFace = RoutedFaceOf<RouteTest>;
using RoutedFace6 = RoutedFaceOf<Route6Test>;

class RoutedFaces : public RoutedFace, public ::testing::WithParamInterface<Kind> {};

TEST_P(RoutedFaces, AreFastInBothDirections) {
    const std::string port = GetParam().name == std::string_view("VlanOfABond") ? "b1" : "face";
    if (!starts(GetParam(), port.c_str()))
        return;
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
    const auto fast = [&] { return (*controller_->port(port))["port"]["fast_packets"].get<int>(); };
    const auto before = fast();
    EXPECT_EQ(treat(onCable(fromFace()), 3).out, usualBack());
    EXPECT_EQ(fast(), before + 1);
}
INSTANTIATE_TEST_SUITE_P(, RoutedFaces, ::testing::ValuesIn(kinds),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(RoutedFace, FiltersBelowAreLinuxs) {
    if (!starts(bond))
        return;
    ASSERT_EQ(treat(toFace()).path, fastPath());
    must("tc qdisc add dev below clsact");
    must("tc filter add dev below egress protocol all u32 match u32 0 0 flowid 1:1");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), usual()}));
    must("tc qdisc del dev below clsact");
    EXPECT_EQ(treat(toFace()), (Treatment{fastPath(), usual()}));
}

TEST_F(RoutedFace, SocketsForOneProtocolAtAMemberSeePackets) {
    if (!starts(bond))
        return;
    const auto fastBack = [&] {
        const auto before = fastFromFace();
        EXPECT_EQ(treat(fromFace(), 3).out, usualBack());
        return fastFromFace() - before;
    };
    (void)fastBack();
    EXPECT_EQ(fastBack(), 1U);
    auto socket = capture("below", 0x800);
    EXPECT_EQ(fastBack(), 0U);
    char frame[64];
    EXPECT_GT(::recv(socket.get(), frame, sizeof frame, MSG_DONTWAIT), 0);
    socket = capture("lo", 0x88cc);
    (void)fastBack();
    EXPECT_EQ(fastBack(), 1U);
    for (int i = 0; i < 15; i++) // with the one that there is, one more than are looked at
        run({fmt::format("ip link add n{0} type dummy && ip link set n{0} master face", i)});
    EXPECT_EQ(fastBack(), 0U);
}

/// It tells by the packet's route what is too large.
TEST_F(RoutedFace, TunnelsBelowAreLinuxs) {
    if (command(
            {"sh", "-c", "modprobe -q ip_gre; ip link add g0 type gretap local 172.16.0.1 remote 172.16.0.2"})
            .exitCode != 0)
        GTEST_SKIP() << "this kernel has no GRE";
    if (!starts(bond))
        return;
    ASSERT_EQ(treat(toFace()).path, fastPath());
    must("ip link set g0 master face");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("stacked"), usual()})) << "at once";
    ASSERT_TRUE(reaches("face", "linux"));
    must("ip link set g0 nomaster");
    ASSERT_TRUE(reaches("face", "accelerated"));
    EXPECT_TRUE(eventually([&] { return treat(toFace()) == Treatment{fastPath(), usual()}; }));
}

/// A VLAN device has one queue, whichever the packet came by: by that one, the bond would choose its other
/// member.
TEST_F(RoutedFace, QueuesOfArrivalAreForgottenOnTheWay) {
    const auto add = [&](const std::string& device, unsigned number, const std::string& queues) {
        const auto far = fmt::format("far{}", number);
        must("ip link add " + device + queues + " type veth peer name " + far + queues + " netns " +
             farSide_->name());
        inFar("ip link set " + far + " up");
        const auto inside = farSide_->enter();
        farPorts_[number].emplace(far);
    };
    add("p4", 4, " numtxqueues 4 numrxqueues 4");
    must("ip link set p4 address " + text(portMac(4)) + " up");
    becomes("p4", 4);
    if (!starts(kinds.back(), "b1"))
        return;
    add("other", 5, "");
    must("ip link set other master b1");
    must("ip link set other type bond_slave queue_id 1");
    const auto frame = [](int host) {
        return ipv4Frame(portMac(4), station(5),
                         {.from = fmt::format("10.0.4.{}", 10 + host), .to = "10.0.3.2"});
    };
    for (int host = 0; host < 32; host++) { // some of them by the third queue
        const auto one = frame(host);
        const Treatment expected{fastPath(), {{3, {onCable(routed(one, 3))}}}};
        EXPECT_EQ(treat(one, 4).out, expected.out);
        EXPECT_EQ(treat(one, 4), expected);
    }
}

/// Which of them a packet takes is told to those below.
TEST_F(RoutedFace, SeveralQueuesOnTopAreLinuxs) {
    auto several = kinds.back();
    several.make.back() = "modprobe -q 8021q; ip link add face numtxqueues 4 link b1 type vlan id 7";
    if (!starts(several, "b1"))
        return;
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("egress-qdisc"), usual()}));
}

/// Frames in these tests have a socket of this machine's.
TEST_F(RoutedFace, SendersWhoseSocketAQueueBelowWouldSeeAreLinuxs) {
    if (command({"tc", "qdisc", "add", "dev", "lo", "root", "fq"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no fq";
    must("tc qdisc del dev lo root");
    if (!starts(bond))
        return;
    must("tc qdisc add dev below root fq");
    EXPECT_EQ(treat(toFace()), (Treatment{slowPath("sender-socket"), usual()}));
}

TEST_F(RoutedFace, PacketsForAnotherAddressThanTheMembersAreLinuxs) {
    expectPacketsForAnotherAddressAreLinuxs();
}

TEST_F(RoutedFace6, PacketsForAnotherAddressThanTheMembersAreLinuxs) {
    expectPacketsForAnotherAddressAreLinuxs();
}

} // namespace
} // namespace tna::test
