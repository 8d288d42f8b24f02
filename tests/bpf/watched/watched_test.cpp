// SPDX-License-Identifier: Apache-2.0
// The watched pipeline, run by hand (BPF_PROG_TEST_RUN) as if frames had come in by p0: each entry of its
// tables that speaks against a frame, alone, and the reason that is counted for it.
#include "assemble/modules/bridge.hpp"
#include "bridge_fixture.hpp"
#include "deploy/load_fast_path.hpp"
#include "support/program.hpp"

#include <bpf/bpf.h>
#include <functional>
#include <net/if.h>

namespace tna::test {
namespace {

using assemble::WatchedPort;

class Watched : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        config_.kernel.fdb = "mirror";
        if (!IsSkipped())
            accelerate(); // the kernel runs a program for a port only if the port has XDP
        if (!IsSkipped())
            load();
    }
    void load() {
        auto loaded = deploy::loadWatchedFastPath({16, 1, 64}, buffers_);
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        in_ = ::if_nametoindex("p0");
        out_ = ::if_nametoindex("p1");
        for (const auto index : {in_, out_})
            plan_.ports[index] = {.ifindex = index, .egress = true, .watched = open()};
        place();
        knows(1, model::Station{.port = in_});
        knows(2, model::Station{.port = out_});
        fastPath_->fdb().open(true);
        expectFast(oneToTwo());
    }
    static WatchedPort open() {
        return {.bridge = bridge,
                .ingressReason = TNA_REASON_COUNT,
                .egressReason = TNA_REASON_COUNT,
                .tagReason = TNA_REASON_COUNT,
                .learns = true,
                .maxFrame = 1518,
                .refresh = std::chrono::hours(1)};
    }
    void place() {
        ASSERT_THAT(fastPath_->apply(plan_, {}).failures, ::testing::IsEmpty());
        // No port of the plan has it: the last one is gone with the call.
        const auto program = fastPath_->program({.modules = {assemble::bridgeModule()}, .watched = true});
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
    }
    void change(model::IfIndex port, const std::function<void(WatchedPort&)>& how) {
        how(*plan_.ports.at(port).watched);
        place();
    }
    static model::StationKey key(unsigned number, model::IfIndex where = bridge, std::uint16_t vlan = 0) {
        model::StationKey key{.bridge = where, .vlan = vlan, .mac = {}};
        key.mac.bytes = station(number);
        return key;
    }
    void knows(unsigned number, const std::optional<model::Station>& now) {
        ASSERT_TRUE(fastPath_->fdb().mirror()->apply({{key(number), now}}));
    }
    /// What the program says, and what it makes of the frame.
    [[nodiscard]] std::pair<int, Frame> run(const Frame& frame, model::IfIndex port) const {
        return runProgram(program_, frame, port);
    }
    void expectFast(const Frame& frame, model::IfIndex port = 0) { expectFast(frame, frame, port); }
    void expectFast(const Frame& frame, const Frame& becomes, model::IfIndex port = 0) {
        EXPECT_EQ(run(frame, port == 0 ? in_ : port), std::pair(int{XDP_REDIRECT}, becomes));
    }
    void expectSlow(const Frame& frame, unsigned reason, model::IfIndex port = 0) {
        const auto from = port == 0 ? in_ : port;
        auto wanted = fastPath_->counters().at(from);
        wanted.slow.at(reason)++;
        EXPECT_EQ(run(frame, from), std::pair(int{XDP_PASS}, frame));
        EXPECT_EQ(fastPath_->counters().at(from).slow, wanted.slow) << deploy::reasonCode(reason);
    }

    static constexpr model::IfIndex bridge = 77;
    deploy::Buffers buffers_ = deploy::Buffers::several;
    model::IfIndex in_ = 0;
    model::IfIndex out_ = 0;
    assemble::Plan plan_;
    std::unique_ptr<deploy::FastPath> fastPath_;
    int program_ = -1;
};

TEST_F(Watched, FramesOfUnusualForm) {
    constexpr Mac group{1, 0, 0x5e, 0, 0, 5};
    const auto builder = [](const Mac& to, const Mac& from) { return FrameBuilder().ethernet(to, from); };
    expectSlow(builder(group, station(1)).udp(), TNA_REASON_MULTICAST);
    model::StationKey groupKey{.bridge = bridge, .vlan = 0, .mac = {group}};
    ASSERT_TRUE(fastPath_->fdb().mirror()->apply({{groupKey, model::Station{.port = in_}}}));
    expectSlow(builder(station(2), group).udp(), TNA_REASON_SOURCE_INVALID);
    expectSlow(builder(station(2), station(1)).etherType(0x0806).raw(46), TNA_REASON_PROTOCOL);
}

TEST_F(Watched, TaggedFramesCrossABridgeWithoutVlanFilteringAsTheyAre) {
    for (const std::uint16_t protocol : std::initializer_list<std::uint16_t>{0x8100, 0x88a8})
        for (const std::uint16_t tci : std::initializer_list<std::uint16_t>{0, 7, 0xb00a})
            expectFast(FrameBuilder().ethernet(station(2), station(1)).vlan(protocol, tci).udp());
}

TEST_F(Watched, FrameInSeveralBuffers) {
    change(out_, [](WatchedPort& port) { port.maxFrame = 9000; });
    expectSlow(FrameBuilder().ethernet(station(2), station(1)).udp(6000), TNA_REASON_FRAGMENTED);
}

TEST_F(Watched, PortsThatAreClosed) {
    change(in_, [](WatchedPort& port) { port.ingressReason = TNA_REASON_CAPTURE; });
    expectSlow(oneToTwo(), TNA_REASON_CAPTURE);
    change(in_, [](WatchedPort& port) { port.ingressReason = TNA_REASON_COUNT; });
    change(out_, [](WatchedPort& port) { port.egressReason = TNA_REASON_EGRESS_QDISC; });
    expectSlow(oneToTwo(), TNA_REASON_EGRESS_QDISC);
    change(out_, [](WatchedPort& port) { port.egressReason = TNA_REASON_COUNT; });
    expectFast(oneToTwo());
}

TEST_F(Watched, PortThatNeedsAProgramAndHasNone) {
    change(out_, [](WatchedPort& port) { port.needsProgram = true; });
    expectSlow(oneToTwo(), TNA_REASON_EGRESS_REDIRECT);
}

TEST_F(Watched, PortsThatAreIsolated) {
    change(in_, [](WatchedPort& port) { port.isolated = true; });
    expectFast(oneToTwo());
    change(out_, [](WatchedPort& port) { port.isolated = true; });
    expectSlow(oneToTwo(), TNA_REASON_ISOLATED);
}

TEST_F(Watched, FrameThatIsTooLarge) {
    change(out_, [](WatchedPort& port) { port.maxFrame = 100; });
    const auto sized = [](std::size_t size) {
        return FrameBuilder().ethernet(station(2), station(1)).udp(size - 42);
    };
    expectFast(sized(100));
    expectSlow(sized(101), TNA_REASON_EGRESS_MTU);
}

TEST_F(Watched, FrameThatIsTooShort) {
    change(out_, [](WatchedPort& port) { port.minFrame = 52; });
    const auto sized = [](std::size_t size) {
        return FrameBuilder().ethernet(station(2), station(1)).udp(size - 42);
    };
    expectSlow(sized(51), TNA_REASON_EGRESS_SHORT);
    expectFast(sized(52));
}

TEST_F(Watched, PortsOfDifferentBridges) {
    change(out_, [](WatchedPort& port) { port.bridge = bridge + 1; });
    expectSlow(oneToTwo(), TNA_REASON_EGRESS_UNMANAGED);
}

TEST_F(Watched, StationsThatAreNotThere) {
    expectSlow(FrameBuilder().ethernet(station(3), station(1)).udp(), TNA_REASON_UNKNOWN_UNICAST);
    expectSlow(FrameBuilder().ethernet(station(2), station(3)).udp(), TNA_REASON_SOURCE_UNKNOWN);
    expectSlow(FrameBuilder().ethernet(station(1), station(1)).udp(), TNA_REASON_SAME_PORT);
}

TEST_F(Watched, StationsOfTheHost) {
    knows(2, model::Station{.port = out_, .local = true});
    expectSlow(oneToTwo(), TNA_REASON_LOCAL);
    expectSlow(twoToOne(), TNA_REASON_SOURCE_INVALID, out_);
}

TEST_F(Watched, StationOfAnotherBridge) {
    knows(2, std::nullopt);
    ASSERT_TRUE(fastPath_->fdb().mirror()->apply({{key(2, bridge + 1), model::Station{.port = out_}}}));
    expectSlow(oneToTwo(), TNA_REASON_UNKNOWN_UNICAST);
}

TEST_F(Watched, MirrorThatIsNotComplete) {
    fastPath_->fdb().open(false);
    expectSlow(oneToTwo(), TNA_REASON_FDB_INCOMPLETE);
    fastPath_->fdb().open(true);
    expectFast(oneToTwo());
}

TEST_F(Watched, StationSeenElsewhereUntilBothAgree) {
    expectSlow(twoToOne(), TNA_REASON_SOURCE_UNKNOWN, in_);
    expectSlow(oneToTwo(), TNA_REASON_STATION_MOVED);
    knows(2, model::Station{.port = out_, .sticky = true}); // an announcement, older than the move
    expectSlow(oneToTwo(), TNA_REASON_STATION_MOVED);
    expectSlow(twoToOne(), TNA_REASON_SOURCE_UNKNOWN, out_); // it is back
    expectFast(oneToTwo());
    expectFast(twoToOne(), out_);
    expectSlow(twoToOne(), TNA_REASON_SOURCE_UNKNOWN, in_); // sticky: Linux does not move it
    expectFast(oneToTwo());
}

TEST_F(Watched, StationSeenOnAPortThatDoesNotLearnHasNotMoved) {
    change(in_, [](WatchedPort& port) { port.learns = false; });
    expectSlow(twoToOne(), TNA_REASON_SOURCE_UNKNOWN, in_);
    change(in_, [](WatchedPort& port) { port.learns = true; });
    expectFast(oneToTwo());
}

TEST_F(Watched, LinuxGetsAFrameOfAStationThatItHasNotHeardForLong) {
    knows(4, model::Station{.port = in_, .unused = std::chrono::minutes(61)});
    const auto frame = FrameBuilder().ethernet(station(2), station(4)).udp();
    expectSlow(frame, TNA_REASON_SOURCE_AGED);
    expectFast(frame);
    knows(4, model::Station{.port = in_, .inactive = true});
    expectSlow(frame, TNA_REASON_SOURCE_AGED);
    expectSlow(frame, TNA_REASON_SOURCE_AGED);
}

/// Linux does not learn from them, or not always: its entry would age out while the station sends.
TEST_F(Watched, FramesThatLinuxMayNotLearnFromRefreshNoStation) {
    const auto from = [](std::array<std::uint8_t, 6> to) { return FrameBuilder().ethernet(to, station(4)); };
    change(in_, [](WatchedPort& port) { port.tagReason = TNA_REASON_VLAN_DEVICE; });
    knows(4, model::Station{.port = in_, .unused = std::chrono::minutes(61)});
    expectSlow(from({0x01, 0x80, 0xc2, 0, 0, 0x0e}).udp(), TNA_REASON_MULTICAST);
    expectSlow(from({0x01, 0x80, 0xc2, 0, 0, 0x01}).udp(), TNA_REASON_MULTICAST);
    expectSlow(from(station(2)).etherType(0x88e3).raw(46), TNA_REASON_PROTOCOL);
    expectSlow(from(station(2)).etherType(0x8902).raw(46), TNA_REASON_PROTOCOL);
    expectSlow(from(station(2)).vlan(0x8100, 7).udp(), TNA_REASON_VLAN_DEVICE);
    auto shorter = from(station(2)).udp();
    shorter.bytes.resize(20);
    expectSlow(shorter, TNA_REASON_SHORT);
    change(in_, [](WatchedPort& port) { port.ingressReason = TNA_REASON_TC; });
    expectSlow(from(station(2)).udp(), TNA_REASON_TC);
    change(in_, [](WatchedPort& port) { port.ingressReason = TNA_REASON_COUNT; });
    expectSlow(from(station(2)).udp(), TNA_REASON_SOURCE_AGED);
    expectFast(from(station(2)).udp());
}

/// Where bridges filter VLANs: in_ and out_ take part in 10 (tagged) and 20 (untagged), in_'s PVID is 20.
class WatchedVlans : public Watched {
protected:
    void SetUp() override {
        Watched::SetUp();
        if (IsSkipped())
            return;
        knows(1, std::nullopt); // of no VLAN
        knows(2, std::nullopt);
        for (auto& [index, port] : plan_.ports) {
            port.watched->vlanProtocol = 0x8100;
            port.watched->pvid = 20;
        }
        for (const auto port : {in_, out_}) {
            part(port, 10, TNA_VLAN_TAGGED);
            part(port, 20, TNA_VLAN_UNTAGGED);
        }
        for (const std::uint16_t vlan : std::initializer_list<std::uint16_t>{10, 20})
            for (const auto& [number, port] : {std::pair(1U, in_), std::pair(2U, out_)})
                ASSERT_TRUE(fastPath_->fdb().mirror()->apply(
                    {{key(number, bridge, vlan), model::Station{.port = port}}}));
    }
    void part(model::IfIndex port, unsigned vid, std::uint64_t what) {
        change(port, [&](WatchedPort& watched) {
            auto& word = watched.vlans.at(vid / 32);
            word = (word & ~(std::uint64_t{3} << vid % 32 * 2)) | what << vid % 32 * 2;
        });
    }
    static Frame tagged(unsigned tci, std::uint16_t protocol = 0x8100) {
        return FrameBuilder()
            .ethernet(station(2), station(1))
            .vlan(protocol, static_cast<std::uint16_t>(tci))
            .udp();
    }
};

TEST_F(WatchedVlans, TagsArePushedPoppedAndWritten) {
    expectFast(tagged(0xb00a));
    expectFast(oneToTwo());
    expectFast(tagged(20), oneToTwo());
    part(out_, 20, TNA_VLAN_TAGGED);
    expectFast(oneToTwo(), tagged(20));
    expectFast(tagged(0xb000), tagged(0xb014));
    part(out_, 10, TNA_VLAN_UNTAGGED);
    expectFast(tagged(0xb00a), oneToTwo());
}

TEST_F(WatchedVlans, TagsOfTheOtherKindArePayload) {
    expectFast(tagged(10, 0x88a8));
    part(out_, 20, TNA_VLAN_TAGGED);
    expectFast(tagged(10, 0x88a8),
               FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 20).vlan(0x88a8, 10).udp());
    for (const auto port : {in_, out_})
        change(port, [](WatchedPort& watched) { watched.vlanProtocol = 0x88a8; });
    expectFast(tagged(10, 0x88a8));
    expectFast(oneToTwo(), tagged(20, 0x88a8));
}

TEST_F(WatchedVlans, NobodyElseTakesPart) {
    expectSlow(tagged(30), TNA_REASON_VLAN);
    expectSlow(tagged(4095), TNA_REASON_VLAN);
    part(out_, 10, TNA_VLAN_NONE);
    expectSlow(tagged(10), TNA_REASON_EGRESS_VLAN);
    part(out_, 10, TNA_VLAN_LEARNS);
    expectSlow(tagged(10), TNA_REASON_EGRESS_VLAN);
    part(in_, 10, TNA_VLAN_NONE);
    expectSlow(tagged(10), TNA_REASON_VLAN);
    change(in_, [](WatchedPort& port) { port.pvid = 0; });
    expectSlow(oneToTwo(), TNA_REASON_VLAN);
}

TEST_F(WatchedVlans, StationsMoveInTheVlanWhereLinuxLearns) {
    const auto fromTwo = FrameBuilder().ethernet(station(1), station(2)).vlan(0x8100, 10).udp();
    part(in_, 10, TNA_VLAN_NONE);
    expectSlow(fromTwo, TNA_REASON_VLAN);
    part(in_, 10, TNA_VLAN_TAGGED);
    expectFast(tagged(10));
    part(in_, 10, TNA_VLAN_LEARNS);
    expectSlow(fromTwo, TNA_REASON_VLAN);
    part(in_, 10, TNA_VLAN_TAGGED);
    expectSlow(tagged(10), TNA_REASON_STATION_MOVED);
    expectFast(tagged(20), oneToTwo());
}

TEST_F(WatchedVlans, LimitIsForTheFrameAsItWillBe) {
    part(out_, 20, TNA_VLAN_TAGGED);
    change(out_, [](WatchedPort& port) { port.maxFrame = 100; });
    const auto sized = [](std::size_t size) {
        return FrameBuilder().ethernet(station(2), station(1)).udp(size - 42);
    };
    expectSlow(sized(97), TNA_REASON_EGRESS_MTU);
    EXPECT_EQ(run(sized(96), in_).first, XDP_REDIRECT);
    part(out_, 20, TNA_VLAN_UNTAGGED);
    EXPECT_EQ(run(sized(100), in_).first, XDP_REDIRECT);
}

TEST_F(WatchedVlans, TaggedFramesForWhomACannotBeSeenAreLinuxs) {
    change(in_, [](WatchedPort& port) { port.tagReason = TNA_REASON_TAGGED; });
    expectSlow(tagged(10), TNA_REASON_TAGGED);
    expectSlow(tagged(10, 0x88a8), TNA_REASON_TAGGED);
    expectFast(oneToTwo());
}

TEST_F(WatchedVlans, ProtocolBehindATag) {
    expectSlow(FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 10).etherType(0x0806).raw(46),
               TNA_REASON_PROTOCOL);
}

/// The kernel takes a device that goes away out of the map of devices at once, whatever the tables say.
TEST_F(WatchedVlans, FrameIsUntouchedWhenThePortHasGoneAway) {
    must("ip link add gone type veth peer name gone2");
    const auto gone = ::if_nametoindex("gone");
    plan_.ports[gone] = plan_.ports.at(out_);
    plan_.ports[gone].ifindex = gone;
    part(gone, 20, TNA_VLAN_TAGGED);
    ASSERT_TRUE(fastPath_->fdb().mirror()->apply({{key(2, bridge, 20), model::Station{.port = gone}}}));
    expectFast(oneToTwo(), tagged(20));
    must("ip link del gone");
    expectSlow(oneToTwo(), TNA_REASON_EGRESS_UNMANAGED);
}

/// As for a kernel that knows frames in one buffer only: all programs and maps are loaded so.
class WatchedSingleBuffer : public Watched {
protected:
    WatchedSingleBuffer() { buffers_ = deploy::Buffers::single; }
};

TEST_F(WatchedSingleBuffer, FramesTakeTheFastPath) {
    expectFast(oneToTwo());
    expectSlow(FrameBuilder().ethernet(station(2), station(1)).etherType(0x0806).raw(46),
               TNA_REASON_PROTOCOL);
}

} // namespace
} // namespace tna::test
