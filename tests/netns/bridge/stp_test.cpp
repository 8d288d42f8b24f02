// SPDX-License-Identifier: Apache-2.0
// Two bridges with two links between them: a loop, which spanning tree breaks.
#include "bridge_fixture.hpp"

#include <algorithm>

namespace tna::test {
namespace {

class SpanningTree : public BridgeTest {
protected:
    /// p0 on br0, p1 on br1; p2 is not used. a0-a1 and b0-b1 connect the bridges.
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        must("ip link set p2 nomaster");
        must("ip link set p1 nomaster");
        must("ip link add br1 type bridge mcast_snooping 0");
        must("ip link set p1 master br1 up");
        for (const std::string bridge : {"br0", "br1"})
            must("ip link set " + bridge +
                 " type bridge stp_state 1 forward_delay 200 hello_time 100 max_age 600");
        must("ip link set br0 type bridge priority 4096");
        for (const std::string link : {"a", "b"}) {
            must("ip link add " + link + "0 type veth peer name " + link + "1");
            must("ip link set " + link + "0 master br0 up");
            must("ip link set " + link + "1 master br1 up");
        }
        must("ip link set br1 up");
        accelerate();
    }
    void accelerate() {
        ASSERT_NO_FATAL_FAILURE(start());
        for (const char* port : {"p0", "p1", "a0", "a1", "b0", "b1"})
            ASSERT_TRUE(reaches(port, "accelerated")) << port;
    }
    void start() {
        config::Config config;
        config.ports.excludeKinds.clear();
        config.ports.tcxKinds.clear();
        config.kernel.refresh = config_.kernel.refresh;
        auto controller = daemon::Controller::start(config);
        TNA_EXPECT_STARTED(controller);
        controller_ = std::move(*controller);
    }
    static bool forwards(const std::string& port) {
        return command({"bridge", "link", "show", "dev", port}).output.find("state forwarding") !=
               std::string::npos;
    }
    /// Without what the bridges tell each other now and then.
    Treatment treatStation(const Frame& frame, unsigned port) {
        constexpr Mac bridges{1, 0x80, 0xc2, 0, 0, 0};
        auto treatment = treat(frame, port);
        for (auto it = treatment.out.begin(); it != treatment.out.end();) {
            std::erase_if(it->second, [&](const Frame& one) {
                return std::equal(bridges.begin(), bridges.end(), one.bytes.begin());
            });
            it = it->second.empty() ? treatment.out.erase(it) : std::next(it);
        }
        return treatment;
    }
    /// Sends a frame and allows at most one copy of it, and none where it came from.
    bool arrivesOnce(const Frame& frame, unsigned from, unsigned to) {
        const auto out = treatStation(frame, from).out;
        if (out.empty())
            return false;
        EXPECT_EQ(out, (Arrivals{{to, {frame}}}));
        return true;
    }
    [[nodiscard]] bool connected() {
        return eventually(
            [&] {
                pump();
                return arrivesOnce(oneToTwo(), 0, 1) && arrivesOnce(twoToOne(), 1, 0);
            },
            std::chrono::seconds(60));
    }
    [[nodiscard]] std::uint64_t fastAt(const std::string& port) const {
        const auto document = controller_->port(port);
        return document ? (*document)["port"]["fast_packets"].get<std::uint64_t>() : 0;
    }
    void expectFastThrough(const std::string& link) {
        EXPECT_TRUE(eventually(
            [&] {
                pump();
                const auto before = fastAt(link + "1");
                EXPECT_TRUE(arrivesOnce(oneToTwo(), 0, 1));
                return fastAt(link + "1") == before + 1;
            },
            std::chrono::seconds(30)));
    }
};

TEST_F(SpanningTree, LoopIsBrokenAndTheOtherLinkTakesOver) {
    ASSERT_TRUE(connected());
    ASSERT_TRUE(eventually([] { return forwards("a1") != forwards("b1"); }, std::chrono::seconds(60)));
    const std::string active = forwards("a1") ? "a" : "b";
    const std::string standby = active == "a" ? "b" : "a";
    expectFastThrough(active);

    const auto broadcast = FrameBuilder().ethernet({255, 255, 255, 255, 255, 255}, station(1)).udp();
    EXPECT_EQ(treatStation(broadcast, 0).out, (Arrivals{{1, {broadcast}}}));

    must("ip link set " + active + "0 down");
    ASSERT_TRUE(eventually(
        [&] {
            pump();
            return forwards(standby + "1");
        },
        std::chrono::seconds(60)));
    ASSERT_TRUE(connected());
    expectFastThrough(standby);
    EXPECT_EQ(treatStation(broadcast, 0).out, (Arrivals{{1, {broadcast}}}));
}

/// A blocked port is never used, however well the station behind it is known.
TEST_F(SpanningTree, StaticEntryBehindABlockedPort) {
    ASSERT_TRUE(connected());
    ASSERT_TRUE(eventually([] { return forwards("a1") != forwards("b1"); }, std::chrono::seconds(60)));
    const std::string blocked = forwards("a1") ? "b1" : "a1";
    must("bridge fdb replace " + text(station(1)) + " dev " + blocked + " master static");
    // While the topology changes, stations age fast, and Linux may have to see a frame first.
    EXPECT_TRUE(eventually([&] {
        const auto treatment = treatStation(twoToOne(), 1);
        EXPECT_EQ(treatment.path.fast, 0U);
        EXPECT_EQ(treatment.out, Arrivals{});
        return treatment.path == slowPath("egress-stp-state");
    }));
}

} // namespace
} // namespace tna::test
