// SPDX-License-Identifier: Apache-2.0
// What Linux has noted of a socket buffer before custom modules change its bytes, and what senders have left
// to the hardware.
#include "modules_fixture.hpp"
#include "netns/tcx/tcx_fixture.hpp"
#include "support/tap.hpp"
#include "vlan_route_fixture.hpp"

#include <linux/if_ether.h>

namespace tna::test {
namespace {

/// As relabel.bpf.c has them.
struct Order {
    enum What : __u32 { nothing, type, station, front } what = nothing;
    __u32 verdict = TNA_CONTINUE;
    std::array<__u8, 8> station_{};
};

/// A module that relabels what comes in by p0.
template <typename Router>
class Relabelled : public Router {
protected:
    /// The module leaves a packet to Linux, and then does the same and says nothing more: what comes out is
    /// the same, and it is Linux that has done it.
    void expectLinuxs(const Frame& frame, Order order) {
        modules_.insert("relabel", moduleObject("relabel"), {.hooks = {"ingress"}, .ports = {"p0"}});
        order.verdict = TNA_TO_LINUX;
        say(order);
        const auto linux = this->treat(frame).out;
        order.verdict = TNA_CONTINUE;
        say(order);
        for (unsigned times = 0; times < 2; times++) // which the second time may be known
            EXPECT_EQ(this->treat(frame), (Treatment{slowPath("module-changed"), linux})) << times;
    }
    void say(const Order& order) {
        const auto map = modules_.map("relabel", "orders");
        const __u32 zero = 0;
        ASSERT_EQ(bpf_map_update_elem(map.get(), &zero, &order, BPF_ANY), 0);
    }
    static Order to(const Mac& mac) {
        Order order{.what = Order::station};
        std::ranges::copy(mac, order.station_.begin());
        return order;
    }
    ModuleControl modules_{this->controller_};
};

class TcxNoted : public Relabelled<AtTcx<RouteTest>> {
protected:
    void SetUp() override {
        AtTcx::SetUp();
        if (IsSkipped())
            return;
        routesAtLast();
        ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
        if (!IsSkipped())
            expectFast(packet());
    }
};

/// Linux has no use for a type that nobody knows, even where the bytes say another one by now.
TEST_F(TcxNoted, TypeIsWhatTheFrameCameInWith) {
    auto unknown = packet();
    unknown.bytes[12] = 0x88;
    unknown.bytes[13] = 0xb5;
    expectLinuxs(unknown, {.what = Order::type});
    expectFast(packet());
}

/// Linux goes on behind what it has been told is the Ethernet header.
TEST_F(TcxNoted, WhatIsPutInFrontIsPartOfTheEthernetHeader) {
    expectLinuxs(packet(), {.what = Order::front});
}

TEST_F(TcxNoted, FrameForManyIsNoRoutersAtItsPort) {
    auto many = packet();
    std::fill_n(many.bytes.begin(), ETH_ALEN, 0xff);
    expectLinuxs(many, to(portMac(0)));
}

/// Needs 802.1Q.
class TcxNotedVlan : public Relabelled<AtTcx<Vlans<RouteTest>>> {};

TEST_F(TcxNotedVlan, FrameForManyIsNoRoutersAtItsVlan) {
    vlan(0, "p0", "id 100");
    const auto alone = packet();
    auto many = tagged(alone, 100);
    ASSERT_TRUE(eventually([&] { return treat(many).out == routedTo(alone); }));
    std::fill_n(many.bytes.begin(), ETH_ALEN, 0xff);
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    if (IsSkipped())
        return;
    EXPECT_EQ(treat(tagged(alone, 100)), (Treatment{fastPath(), routedTo(alone)}));
    expectLinuxs(many, to(portMac(0)));
}

/// A machine behind tap0 sends more than fits into a frame, and does not say how many it will be.
class TcxModuleBuffers : public TcxTest {
protected:
    void SetUp() override {
        TcxTest::SetUp();
        if (IsSkipped())
            return;
        tap_ = Tap::make("tap0");
        if (!tap_)
            GTEST_SKIP() << "/dev/net/tun cannot be used here";
        must("ip link set tap0 master br0 up");
        must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
        must("ethtool -K p1 gso off tso off tx off sg off");
    }
    std::optional<Tap> tap_;
    ModuleControl modules_{controller_};
};

TEST_F(TcxModuleBuffers, AreAsManyFramesAsComeOut) {
    ASSERT_NO_FATAL_FAILURE(accelerateAtTcx());
    if (IsSkipped())
        return;
    ASSERT_TRUE(reaches("tap0", "accelerated"));
    modules_.insert("relabel", moduleObject("relabel"), {.hooks = {"ingress"}, .ports = {"tap0"}});
    const auto map = modules_.map("relabel", "frames");
    const __u32 zero = 0;
    for (const std::size_t bytes : {250U, 300U, 301U, 60U}) {
        const __u64 none = 0;
        ASSERT_EQ(bpf_map_update_elem(map.get(), &zero, &none, BPF_ANY), 0);
        (void)arrivals();
        tap_->send(FrameBuilder().ethernet(station(2), station(3)).udp(bytes), segmentsOfUdp(100));
        const auto out = arrivals();
        if (!out.contains(1))
            GTEST_SKIP() << "this kernel does not cut segments of UDP from taps";
        __u64 seen = 0;
        ASSERT_EQ(bpf_map_lookup_elem(map.get(), &zero, &seen), 0);
        EXPECT_EQ(seen, out.at(1).size()) << bytes;
    }
}

} // namespace
} // namespace tna::test
