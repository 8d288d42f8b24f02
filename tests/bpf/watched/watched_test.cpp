// SPDX-License-Identifier: Apache-2.0
// The watched pipeline, run by hand (BPF_PROG_TEST_RUN) as if frames had come in by p0: each entry of its
// tables that speaks against a frame, alone, and the reason that is counted for it.
#include "bridge_fixture.hpp"
#include "deploy/fast_path.hpp"

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
        auto loaded = deploy::FastPath::loadWatched({16, 1, 64});
        ASSERT_TRUE(loaded) << loaded.error().sentence();
        fastPath_ = std::move(*loaded);
        in_ = ::if_nametoindex("p0");
        out_ = ::if_nametoindex("p1");
        for (const auto index : {in_, out_})
            plan_.ports[index] = {.ifindex = index, .egress = true, .watched = open()};
        place();
        knows(1, model::Station{.port = in_});
        knows(2, model::Station{.port = out_});
        fastPath_->setMirrorComplete(true);
        expectFast(oneToTwo());
    }
    static WatchedPort open() {
        return {.bridge = bridge,
                .ingressReason = TNA_REASON_COUNT,
                .egressReason = TNA_REASON_COUNT,
                .learns = true,
                .maxFrame = 1518,
                .refresh = std::chrono::hours(1)};
    }
    void place() {
        ASSERT_THAT(fastPath_->apply(plan_, {}).failures, ::testing::IsEmpty());
        // No port of the plan has it: the last one is gone with the call.
        const auto program = fastPath_->program({.bridge = true, .watched = true});
        ASSERT_TRUE(program) << program.error().sentence();
        program_ = *program;
    }
    void change(model::IfIndex port, const std::function<void(WatchedPort&)>& how) {
        how(*plan_.ports.at(port).watched);
        place();
    }
    static model::StationKey key(unsigned number, model::IfIndex where = bridge) {
        model::StationKey key{.bridge = where, .vlan = 0, .mac = {}};
        key.mac.bytes = station(number);
        return key;
    }
    void knows(unsigned number, const std::optional<model::Station>& now) {
        ASSERT_TRUE(fastPath_->mirror()->apply({{key(number), now}}));
    }
    [[nodiscard]] int run(const Frame& frame, model::IfIndex port) const {
        xdp_md context{};
        context.data_end = static_cast<__u32>(frame.bytes.size());
        context.ingress_ifindex = port;
        std::vector<std::uint8_t> after(frame.bytes.size());
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes.data(), .data_out = after.data(),
                    .data_size_in = static_cast<__u32>(frame.bytes.size()),
                    .data_size_out = static_cast<__u32>(after.size()), .ctx_in = &context,
                    .ctx_size_in = sizeof(context), .repeat = 1);
        if (const int error = bpf_prog_test_run_opts(program_, &options); error != 0)
            ADD_FAILURE() << "cannot run: " << std::strerror(-error);
        EXPECT_EQ(after, frame.bytes) << "bytes were changed";
        return static_cast<int>(options.retval);
    }
    void expectFast(const Frame& frame, model::IfIndex port = 0) {
        EXPECT_EQ(run(frame, port == 0 ? in_ : port), XDP_REDIRECT);
    }
    void expectSlow(const Frame& frame, unsigned reason, model::IfIndex port = 0) {
        const auto from = port == 0 ? in_ : port;
        auto wanted = fastPath_->counters().at(from);
        wanted.slow.at(reason)++;
        EXPECT_EQ(run(frame, from), XDP_PASS);
        EXPECT_EQ(fastPath_->counters().at(from).slow, wanted.slow) << deploy::reasonCode(reason);
    }

    static constexpr model::IfIndex bridge = 77;
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
    ASSERT_TRUE(fastPath_->mirror()->apply({{groupKey, model::Station{.port = in_}}}));
    expectSlow(builder(station(2), group).udp(), TNA_REASON_SOURCE_INVALID);
    expectSlow(builder(station(2), station(1)).vlan(0x8100, 7).udp(), TNA_REASON_TAGGED);
    expectSlow(builder(station(2), station(1)).etherType(0x0806).raw(46), TNA_REASON_PROTOCOL);
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
    ASSERT_TRUE(fastPath_->mirror()->apply({{key(2, bridge + 1), model::Station{.port = out_}}}));
    expectSlow(oneToTwo(), TNA_REASON_UNKNOWN_UNICAST);
}

TEST_F(Watched, MirrorThatIsNotComplete) {
    fastPath_->setMirrorComplete(false);
    expectSlow(oneToTwo(), TNA_REASON_FDB_INCOMPLETE);
    fastPath_->setMirrorComplete(true);
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

} // namespace
} // namespace tna::test
