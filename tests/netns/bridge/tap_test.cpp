// SPDX-License-Identifier: Apache-2.0
// Taps as bridge ports: what senders behind them leave unfinished, and what a tap does with frames of its own
// accord, is unknown to XDP. Each is done by plain Linux first.
#include "bridge_fixture.hpp"
#include "support/tap.hpp"

#include <filesystem>
#include <functional>
#include <net/if.h>

namespace tna::test {
namespace {

class Taps : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (IsSkipped())
            return;
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link set tap0 master br0 up");
        // By entries of the operator's, so that the same holds whatever has been sent.
        must("bridge fdb replace " + text(station(1)) + " dev p0 master static");
        must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
        must("bridge fdb replace " + text(station(3)) + " dev tap0 master static");
        ASSERT_TRUE(eventually([&] { return outOfTap(toTap()) == std::vector{toTap()}; }));
        (void)arrivals();
    }
    /// As somebody who has emptied exclude_kinds, and promises nothing about taps.
    void accelerateTaps() {
        config_.ports.finishedFrames = {"p*"};
        ASSERT_NO_FATAL_FAILURE(accelerate());
    }
    /// What comes out of the tap when a frame for it came in by p0.
    [[nodiscard]] std::vector<Frame> outOfTap(const Frame& frame) {
        (void)tap_->drain();
        catchUp();
        far(0).send(frame);
        settle();
        return tap_->drain();
    }
    /// What comes out everywhere else when the tap's other end sends a frame.
    [[nodiscard]] Arrivals fromTap(const Frame& frame, const Unfinished& unfinished) {
        (void)arrivals();
        catchUp();
        tap_->send(frame, unfinished);
        return arrivals();
    }
    [[nodiscard]] nlohmann::json explained() const {
        const auto document = controller_->port("tap0");
        return document ? *document : nlohmann::json{};
    }
    [[nodiscard]] bool p0IsAtTcxAsWell() const {
        return (*controller_->port("p0"))["port"]["hook"] == "xdp-native+tcx";
    }
    static Frame toTap() { return FrameBuilder().ethernet(station(3), station(1)).udp(); }

    std::optional<Tap> tap_;
};

TEST_F(Taps, FiltersOfATapAreAskedBeforeAnyFrameLeavesByIt) {
    const std::vector<std::pair<const char*, std::function<void(const Tap&)>>> filters{
        {"TUNSETTXFILTER", [](const Tap& tap) { tap.takeOnly(station(9)); }},
        {"TUNATTACHFILTER", [](const Tap& tap) { tap.attachFilterThatDropsAll(); }},
        {"TUNSETFILTEREBPF", [](const Tap& tap) { tap.setProgramThatDropsAll(); }}};
    for (const auto& [name, set] : filters) {
        SCOPED_TRACE(name);
        tap_.reset(); // the device goes, and comes again without a filter
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link set tap0 master br0 up");
        must("bridge fdb replace " + text(station(3)) + " dev tap0 master static");
        ASSERT_TRUE(eventually([&] { return !outOfTap(toTap()).empty(); }));
        set(*tap_);
        ASSERT_EQ(outOfTap(toTap()), std::vector<Frame>{}) << "Linux";
        config_.ports.excludeKinds = {"tun"};
        ASSERT_NO_FATAL_FAILURE(accelerateTaps());
        if (IsSkipped())
            return;
        ASSERT_TRUE(reaches("tap0", "linux"));
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(outOfTap(toTap()), std::vector<Frame>{});
        EXPECT_EQ(explained()["port"]["egress"], false);
        controller_.reset();
    }
}

TEST_F(Taps, FramesLeaveByATapThatIsTrusted) {
    config_.ports.trustedDrivers = {"tun"};
    ASSERT_NO_FATAL_FAILURE(accelerateTaps());
    ASSERT_TRUE(reaches("tap0", "linux"));
    if (watched())
        GTEST_SKIP() << "the driver's own answer is needed for that";
    const auto before = counted(0).fast;
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(explained()["port"]["egress"], true);
    EXPECT_EQ(counted(0).fast, before + 1);
}

/// A driver refuses what is redirected to it, as one does that has no transmit queue for a processor. The
/// kernel tells nobody, and frees the frame: the next one is Linux's.
TEST_F(Taps, WhatADriverRefusesIsLeftToLinuxFromTheNextFrameOn) {
    tap_.reset();
    tap_ = Tap::makeWithQueues("tap0");
    if (!tap_)
        GTEST_SKIP() << "/dev/net/tun cannot be used here";
    must("ip link set tap0 master br0 up");
    must("bridge fdb replace " + text(station(3)) + " dev tap0 master static");
    config_.ports.trustedDrivers = {"tun"};
    ASSERT_NO_FATAL_FAILURE(accelerateTaps());
    ASSERT_TRUE(reaches("tap0", "linux"));
    const auto before = counted(0).fast;
    ASSERT_EQ(outOfTap(toTap()), std::vector{toTap()});
    if (counted(0).fast == before)
        GTEST_SKIP() << "this kernel does not say that frames may be redirected to taps";
    blind_ = true;
    tap_->takeQueueAway();
    EXPECT_EQ(outOfTap(toTap()), std::vector<Frame>{}) << "refused";
    tap_->giveQueueBack();
    EXPECT_EQ(treat(toTap()).path, slowPath("egress-refused"));
    EXPECT_EQ(tap_->drain(), std::vector{toTap()}) << "by Linux, before the daemon knows";
    blind_ = false;
    controller_->onTick();
    EXPECT_EQ(explained()["port"]["egress"], false);
    EXPECT_EQ(explained()["features"].back()["reasons"][0]["code"], "egress-refused");
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});

    controller_->pause(std::nullopt, false); // the operator has mended it
    EXPECT_EQ(explained()["port"]["egress"], true);
    const auto fast = counted(0).fast;
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).fast, fast + 1);
}

/// The kernel tells of all network namespaces at one place, and devices of several may have the same index.
TEST_F(Taps, WhatADriverRefusesInAnotherNamespaceIsNoMatter) {
    config_.ports.trustedDrivers = {"tun"};
    ASSERT_NO_FATAL_FAILURE(accelerateTaps());
    ASSERT_TRUE(reaches("tap0", "linux"));
    const unsigned p1 = ::if_nametoindex("p1");

    Namespace elsewhere;
    std::unique_ptr<daemon::Controller> other;
    std::optional<PacketPort> sender;
    std::optional<Tap> refusing;
    {
        const auto inside = elsewhere.enter();
        refusing = Tap::makeWithQueues("tap0", p1);
        if (!refusing)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link add br0 type bridge mcast_snooping 0");
        must("ip link add q0 type veth peer name sender");
        must("ip link set br0 up");
        for (const char* name : {"iptables", "ip6tables"})
            if (const std::string key = std::string("net.bridge.bridge-nf-call-") + name;
                std::filesystem::exists("/proc/sys/net/bridge/bridge-nf-call-" + std::string(name)))
                sysctl(key, "0");
        for (const char* port : {"q0", "tap0"})
            must(std::string("ip link set ") + port + " master br0 up");
        must("ethtool -K sender gro on");
        must("ip link set sender up");
        must("bridge fdb replace " + text(station(1)) + " dev q0 master static");
        must("bridge fdb replace " + text(station(3)) + " dev tap0 master static");
        sender.emplace("sender");
        auto config = config_;
        config.ports.finishedFrames = {"q*"};
        auto started = daemon::Controller::start(config);
        ASSERT_TRUE(started) << started.error().sentence();
        other = std::move(*started);
        refusing->takeQueueAway();
        ASSERT_TRUE(eventually([&] {
            sender->send(toTap());
            other->onTick();
            const auto port = other->port("tap0");
            return port && (*port)["port"]["egress"] == false;
        })) << "refused there";
    }
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(send(oneToTwo()), fastPath());
}

/// The other way round: a trusted device stops being one.
TEST_F(Taps, NothingLeavesByATapThatIsNoLongerTrusted) {
    config_.ports.trustedDrivers = {"tun"};
    ASSERT_NO_FATAL_FAILURE(accelerate()); // it stays a port that frames are taken from
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    ASSERT_EQ(outOfTap(toTap()), std::vector{toTap()});
    auto stricter = config_;
    stricter.ports.trustedDrivers.clear();
    controller_->setConfig(stricter);
    EXPECT_EQ(explained()["port"]["egress"], false);
    const auto before = counted(0).fast;
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).fast, before + (p0IsAtTcxAsWell() ? 1 : 0)) << "there, Linux sends";
}

TEST_F(Taps, ChecksumThatIsNotFinishedIsFinishedByLinux) {
    must("ethtool -K p1 tx off"); // Linux is to finish it, and not to leave it to the far end
    const auto whole = FrameBuilder().ethernet(station(2), station(3)).udp(200);
    auto frame = whole;
    constexpr std::uint16_t udp = 14 + 20;
    const auto length = static_cast<std::uint16_t>(frame.bytes.size() - udp);
    std::uint32_t pseudo = 17U + length;
    for (std::size_t i = 14 + 12; i < udp; i += 2)
        pseudo += static_cast<std::uint32_t>(frame.bytes[i]) << 8U | frame.bytes[i + 1];
    while (pseudo >> 16U != 0)
        pseudo = (pseudo & 0xffffU) + (pseudo >> 16U);
    frame.bytes[udp + 6] = static_cast<std::uint8_t>(pseudo >> 8U);
    frame.bytes[udp + 7] = static_cast<std::uint8_t>(pseudo);
    const Unfinished unfinished{.flags = 1, .checksumStart = udp, .checksumOffset = 6};
    const auto linux = fromTap(frame, unfinished);
    ASSERT_EQ(linux, (Arrivals{{1, {whole}}}));
    ASSERT_NO_FATAL_FAILURE(accelerateTaps());
    ASSERT_TRUE(reaches("tap0", "linux"));
    EXPECT_EQ(explained()["features"][0]["reasons"][0]["code"], "unfinished-frames");
    EXPECT_EQ(fromTap(frame, unfinished), linux);
}

TEST_F(Taps, SegmentsAreCutByLinux) {
    must("ethtool -K p1 gso off tso off tx off sg off");
    auto frame = FrameBuilder().ethernet(station(2), station(3)).udp(300);
    const auto unfinished = segmentsOfUdp(100);
    const auto linux = fromTap(frame, unfinished);
    if (!linux.contains(1) || linux.at(1).size() != 3)
        GTEST_SKIP() << "this kernel does not cut segments of UDP from taps";
    ASSERT_NO_FATAL_FAILURE(accelerateTaps());
    ASSERT_TRUE(reaches("tap0", "linux"));
    EXPECT_EQ(fromTap(frame, unfinished), linux);
}

TEST_F(Taps, WhoseSendersFinishTheirFramesAreAccelerated) {
    ASSERT_NO_FATAL_FAILURE(accelerate()); // with the promise
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    const auto frame = FrameBuilder().ethernet(station(2), station(3)).udp();
    const auto fast = [&] { return explained()["port"]["fast_packets"].get<unsigned>(); };
    const auto before = fast();
    EXPECT_EQ(fromTap(frame, {}), (Arrivals{{1, {frame}}}));
    EXPECT_EQ(fast(), before + 1);
    EXPECT_EQ(explained()["port"]["egress"], false) << "that is another question";
    EXPECT_EQ(explained()["features"][1]["reasons"][0]["code"], "send-skips");
    const auto slow = counted(0).slow["egress-unmanaged"];
    EXPECT_EQ(outOfTap(toTap()), std::vector{toTap()});
    EXPECT_EQ(counted(0).slow["egress-unmanaged"], slow + (p0IsAtTcxAsWell() ? 0 : 1));
}

} // namespace
} // namespace tna::test
