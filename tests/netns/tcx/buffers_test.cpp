// SPDX-License-Identifier: Apache-2.0
// Socket buffers stay whole: what their senders have left to the hardware is still to be done when they
// leave. Plain Linux does each first.
#include "support/tap.hpp"
#include "tcx_fixture.hpp"

#include <nlohmann/json.hpp>

namespace tna::test {
namespace {

constexpr std::uint16_t udp = 14 + 20;

/// What a sender with checksum offload leaves behind: the sum of the pseudo header.
Frame withoutChecksum(Frame frame) {
    const auto length = static_cast<std::uint16_t>(frame.bytes.size() - udp);
    std::uint32_t pseudo = 17U + length;
    for (std::size_t i = 14 + 12; i < udp; i += 2)
        pseudo += static_cast<std::uint32_t>(frame.bytes[i]) << 8U | frame.bytes[i + 1];
    while (pseudo >> 16U != 0)
        pseudo = (pseudo & 0xffffU) + (pseudo >> 16U);
    frame.bytes[udp + 6] = static_cast<std::uint8_t>(pseudo >> 8U);
    frame.bytes[udp + 7] = static_cast<std::uint8_t>(pseudo);
    return frame;
}

/// A machine behind tap0: station 3.
class TcxBuffers : public TcxTest {
protected:
    void SetUp() override {
        TcxTest::SetUp();
        if (IsSkipped())
            return;
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link set tap0 master br0 up");
        for (const auto& [number, port] : {std::pair{1U, "p0"}, {2U, "p1"}, {3U, "tap0"}})
            must("bridge fdb replace " + text(station(number)) + " dev " + port + " master static");
        ASSERT_TRUE(eventually([&] { return outOfTap(toTap()) == std::vector{toTap()}; }));
        (void)arrivals();
    }
    void start() {
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        if (!IsSkipped()) {
            ASSERT_TRUE(reaches("tap0", "accelerated"));
        }
    }
    [[nodiscard]] std::vector<Frame> outOfTap(const Frame& frame) {
        (void)tap_->drain();
        far(0).send(frame);
        settle();
        return tap_->drain();
    }
    [[nodiscard]] Arrivals fromTap(const Frame& frame, const Unfinished& unfinished) {
        (void)arrivals();
        tap_->send(frame, unfinished);
        return arrivals();
    }
    [[nodiscard]] std::uint64_t fastFromTap() const {
        return (*controller_->port("tap0"))["port"]["fast_packets"].get<std::uint64_t>();
    }
    static Frame toTap() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }
    /// The same comes out with and without the fast path, from one buffer.
    void expectCutAsByLinux(std::size_t bytes, std::uint16_t segment, std::size_t pieces) {
        must("ethtool -K p1 gso off tso off tx off sg off");
        const auto frame = FrameBuilder().ethernet(station(2), station(3)).udp(bytes);
        const auto linux = fromTap(frame, segmentsOfUdp(segment));
        if (!linux.contains(1) || linux.at(1).size() != pieces)
            GTEST_SKIP() << "this kernel does not cut segments of UDP from taps";
        ASSERT_NO_FATAL_FAILURE(start());
        const auto before = fastFromTap();
        EXPECT_EQ(fromTap(frame, segmentsOfUdp(segment)), linux);
        EXPECT_EQ(fastFromTap(), before + 1);
    }

    std::optional<Tap> tap_;
};

TEST_F(TcxBuffers, FramesToAndFromATap) {
    ASSERT_NO_FATAL_FAILURE(start());
    const auto frame = FrameBuilder().ethernet(station(2), station(3)).udp();
    const auto before = fastFromTap();
    EXPECT_EQ(fromTap(frame, {}), (Arrivals{{1, {frame}}}));
    EXPECT_EQ(fastFromTap(), before + 1);
    const auto there = counted(0).fast;
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).fast, there + 1);
}

/// By the old kinds of filters, which a tap has on the way that Linux's frames go.
TEST_F(TcxBuffers, FiltersOfATapAreAsked) {
    ASSERT_NO_FATAL_FAILURE(start());
    tap_->takeOnly(station(9));
    const auto before = counted(0).fast;
    EXPECT_EQ(outOfTap(toTap()), std::vector<Frame>{});
    EXPECT_EQ(counted(0).fast, before + 1);
}

TEST_F(TcxBuffers, ChecksumIsFinishedWhereLinuxFinishesIt) {
    must("ethtool -K p1 tx off");
    const auto whole = FrameBuilder().ethernet(station(2), station(3)).udp(200);
    const Unfinished unfinished{.flags = 1, .checksumStart = udp, .checksumOffset = 6};
    const auto linux = fromTap(withoutChecksum(whole), unfinished);
    ASSERT_EQ(linux, (Arrivals{{1, {whole}}}));
    ASSERT_NO_FATAL_FAILURE(start());
    const auto before = fastFromTap();
    EXPECT_EQ(fromTap(withoutChecksum(whole), unfinished), linux);
    EXPECT_EQ(fastFromTap(), before + 1);
}

TEST_F(TcxBuffers, SegmentsAreCutAtEgress) {
    expectCutAsByLinux(300, 100, 3);
}

/// Linux looks for the protocol behind the tags that are left in the frame, and gives up behind many.
TEST_F(TcxBuffers, UnfinishedChecksumBehindTagsIsLinuxs) {
    std::vector<std::pair<Frame, Unfinished>> frames;
    std::vector<Arrivals> linux;
    for (const unsigned tags : {0U, 1U, 3U, 12U}) {
        auto frame = withoutChecksum(FrameBuilder().ethernet(station(2), station(3)).udp(100));
        for (unsigned tag = 0; tag < tags; tag++)
            frame.bytes.insert(frame.bytes.begin() + 12, {0x81, 0x00, 0x00, 0x05});
        const auto start = static_cast<std::uint16_t>(udp + 4 * tags);
        frames.emplace_back(frame, Unfinished{.flags = 1, .checksumStart = start, .checksumOffset = 6});
        linux.push_back(fromTap(frames.back().first, frames.back().second));
    }
    EXPECT_EQ(linux.back(), Arrivals{});
    ASSERT_NO_FATAL_FAILURE(start());
    for (std::size_t i = 0; i < frames.size(); i++) {
        const auto before = fastFromTap();
        EXPECT_EQ(fromTap(frames[i].first, frames[i].second), linux[i]) << i;
        EXPECT_EQ(fastFromTap(), before + (i < 2 ? 1 : 0)) << i;
    }
}

/// As a whole it is larger than what the port takes.
TEST_F(TcxBuffers, SegmentsAreNotComparedWithTheMtuTogether) {
    expectCutAsByLinux(6000, 1000, 6);
}

/// A bridge lets those pass, too (is_skb_forwardable()).
TEST_F(TcxBuffers, SegmentsThatAreTooLargeByThemselvesPass) {
    must("ip link set p1 mtu 500");
    expectCutAsByLinux(3000, 1000, 3);
}

TEST_F(TcxBuffers, FrameThatIsTooLargeIsLinuxs) {
    must("ip link set p1 mtu 500");
    ASSERT_NO_FATAL_FAILURE(start());
    const auto large = FrameBuilder().ethernet(station(2), station(1)).udp(800);
    EXPECT_EQ(treat(large), (Treatment{slowPath("egress-mtu"), {}}));
}

/// A machine at tcx, and cards at XDP: those are seen at tcx as well, for what goes to the machine.
TEST_F(TcxBuffers, BothHooksOnOneBridge) {
    config_.ports.tcxKinds = {"tun"};
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    EXPECT_EQ((*controller_->port("tap0"))["port"]["hook"], "tcx");
    EXPECT_EQ((*controller_->port("p0"))["port"]["hook"], "xdp-native+tcx");
    const auto frame = FrameBuilder().ethernet(station(2), station(3)).udp();
    const auto before = fastFromTap();
    EXPECT_EQ(fromTap(frame, {}), (Arrivals{{1, {frame}}}));
    EXPECT_EQ(fastFromTap(), before + 1);
    const auto first = counted(0);
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).fast, first.fast + 1);
    EXPECT_EQ(counted(0).slow, first.slow) << "it is counted where it is decided";
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(TcxBuffers, PortNamedByTheConfigurationIsAtTcx) {
    config_.ports.tcxKinds = {"tun"};
    config_.ports.tcx = {"p0"};
    ASSERT_NO_FATAL_FAILURE(accelerate());
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    const auto p0 = (*controller_->port("p0"))["port"];
    EXPECT_EQ(p0["hook"], "tcx");
    EXPECT_EQ(p0["hook_why"], "the configuration says so");
    EXPECT_EQ((*controller_->port("p1"))["port"]["hook"], "xdp-native+tcx");
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).fast, 1U);
}

/// The kernel's own counters of both ports are as by plain Linux.
TEST_F(TcxBuffers, DevicesCountAsByLinux) {
    const auto counts = [] {
        std::vector<std::uint64_t> all;
        for (const auto* port : {"p0", "p1"}) {
            const auto shown = command({"ip", "-s", "-j", "link", "show", "dev", port});
            const auto stats = nlohmann::json::parse(shown.output)[0]["stats64"];
            for (const auto* way : {"rx", "tx"})
                for (const auto* what : {"packets", "bytes"})
                    all.push_back(stats[way][what].get<std::uint64_t>());
        }
        return all;
    };
    const auto countedFor = [&] {
        const auto before = counts();
        for (int i = 0; i < 10; i++)
            far(0).send(oneToTwo());
        settle();
        auto after = counts();
        for (std::size_t i = 0; i < after.size(); i++)
            after[i] -= before[i];
        return after;
    };
    const auto linux = countedFor();
    EXPECT_EQ(linux[0], 10U);
    ASSERT_NO_FATAL_FAILURE(start());
    const auto before = counted(0).fast;
    EXPECT_EQ(countedFor(), linux);
    EXPECT_EQ(counted(0).fast, before + 10);
}

} // namespace
} // namespace tna::test
