// SPDX-License-Identifier: Apache-2.0
// What custom modules do at each hook with real packets, and what they cannot do: what they leave alone is
// treated as without them.
#include "bridged_route_fixture.hpp"
#include "modules_fixture.hpp"
#include "support/own_objects.hpp"

#include <bpf/bpf.h>
#include <net/if.h>

namespace tna::test {
namespace {

/// What tna's counters say of a frame that a module took: nothing.
const Path nobody{};

/// The module of these tests, and the same with more on its stack than fits beside the pipeline's.
const auto withAnyStack = ::testing::Values("obedient", "obedient_deep");
std::string nameOfModule(const ::testing::TestParamInfo<const char*>& parameter) {
    return parameter.param;
}

class Hooks : public AcceleratedBridgeTest, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        AcceleratedBridgeTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        modules_.insert("obedient", moduleObject(GetParam()));
        const auto map = modules_.map("obedient", "other_port");
        const __u32 zero = 0, other = ::if_nametoindex("p2");
        ASSERT_EQ(bpf_map_update_elem(map.get(), &zero, &other, BPF_ANY), 0);
    }
    static Frame order(unsigned number) { return toUdpPort(oneToTwo(), number); }
    static Frame with(Frame frame, std::size_t at) {
        frame.bytes[at] ^= 0xffU;
        return frame;
    }
    static Frame lastChanged(const Frame& frame) { return with(frame, frame.bytes.size() - 1); }
    static Arrivals at(unsigned port, const Frame& frame) { return {{port, {frame}}}; }

    ModuleControl modules_{controller_};
};

TEST_P(Hooks, WhatModulesLeaveAloneIsTreatedAsWithoutThem) {
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), at(1, oneToTwo())}));
    EXPECT_EQ(treat(twoToOne(), 1), (Treatment{fastPath(), at(0, twoToOne())}));
    const auto unknown = FrameBuilder().ethernet(station(77), station(1)).udp();
    EXPECT_EQ(treat(unknown), (Treatment{slowPath("unknown-unicast"), {{1, {unknown}}, {2, {unknown}}}}));
    for (const char* hook : {"ingress", "bridge"})
        EXPECT_EQ(modules_.said("obedient", hook), (Said{{"continue", 3}})) << hook;
    EXPECT_EQ(modules_.said("obedient", "egress"), (Said{{"continue", 2}}));
}

TEST_P(Hooks, FramesAreCountedWhicheverWayTheyGo) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(send(twoToOne(), 1), fastPath());
    const auto before = counted(0).fast, beforeBack = counted(1).fast;
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(send(oneToTwo()), fastPath());
        EXPECT_EQ(send(oneToTwo()), fastPath());
        EXPECT_EQ(send(twoToOne(), 1), fastPath());
    }
    EXPECT_EQ(counted(0).fast, before + 16);
    EXPECT_EQ(counted(1).fast, beforeBack + 8);
}

TEST_P(Hooks, ModuleIsAPartOfThePipelineIfThatFits) {
    const bool jumps = std::string(GetParam()) == "obedient_deep" && !watched(); // that pipeline needs less
    EXPECT_EQ(ownPrograms("tna_on_bridge"), jumps ? 2U : 1U) << "the module's own, and one that is jumped to";
}

TEST_P(Hooks, LiveGuardsHoldAroundModules) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("ip link set p1 type bridge_slave isolated on");
    must("ip link set p0 type bridge_slave isolated on");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("isolated"), {}}));
    must("ip link set p0 type bridge_slave isolated off");
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), at(1, oneToTwo())}));
}

TEST_P(Hooks, AtIngressAModuleDecidesBeforeAnythingElse) {
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody, {}})) << "drop";
    EXPECT_EQ(treat(order(7002)), (Treatment{nobody, at(1, order(7002))})) << "to Linux";
    EXPECT_EQ(treat(order(7003)), (Treatment{nobody, at(2, order(7003))})) << "to another port";
    EXPECT_EQ(treat(order(7004)), (Treatment{fastPath(), at(1, lastChanged(order(7004)))})) << "changed";
    EXPECT_EQ(treat(order(7005)), (Treatment{nobody, at(1, order(7005))})) << "no verdict";
    EXPECT_EQ(treat(order(7006)), (Treatment{nobody, at(1, order(7006))})) << "no target";
    EXPECT_EQ(modules_.said("obedient", "ingress"),
              (Said{{"drop", 1}, {"linux", 1}, {"port", 1}, {"continue", 1}, {"faults", 2}}));
}

TEST_P(Hooks, FrameThatWasChangedAtIngressIsAnotherFrame) {
    const auto other = with(order(7007), 5); // for a station that nobody knows
    EXPECT_EQ(treat(order(7007)), (Treatment{slowPath("unknown-unicast"), {{1, {other}}, {2, {other}}}}));
}

TEST_P(Hooks, AfterTheDecisionOfTheBridge) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody, {}})) << "drop";
    EXPECT_EQ(treat(order(7102)), (Treatment{nobody, at(1, order(7102))})) << "to Linux, untouched";
    EXPECT_EQ(treat(order(7103)), (Treatment{nobody, at(2, order(7103))})) << "to another port";
    EXPECT_EQ(treat(order(7104)), (Treatment{fastPath(), at(1, lastChanged(order(7104)))})) << "payload";
    EXPECT_EQ(treat(order(7105)), (Treatment{nobody, at(1, order(7105))})) << "no verdict";
    EXPECT_EQ(treat(order(7106)), (Treatment{nobody, at(1, order(7106))})) << "no target";
}

TEST_P(Hooks, WhatWasDecidedHoldsForNoOtherFrame) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto other = with(order(7107), 5);
    EXPECT_EQ(treat(order(7107)), (Treatment{slowPath("module-changed"), {{1, {other}}, {2, {other}}}}));
    auto longer = order(7108);
    longer.bytes.push_back(0);
    EXPECT_EQ(treat(order(7108)), (Treatment{slowPath("module-changed"), at(1, longer)}));
}

TEST_P(Hooks, DecisionIsTold) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(send(FrameBuilder().ethernet(station(77), station(1)).udp()), slowPath("unknown-unicast"));
    const auto map = modules_.map("obedient", "told");
    const auto times = [&](__u32 egress) {
        __u64 value = 0;
        bpf_map_lookup_elem(map.get(), &egress, &value);
        return value;
    };
    EXPECT_EQ(times(::if_nametoindex("p1")), 1U);
    EXPECT_EQ(times(0), 1U);
}

TEST_P(Hooks, AtEgressAModuleSeesWhatLeaves) {
    EXPECT_EQ(treat(order(7301)), (Treatment{fastPath(), {}})) << "drop";
    EXPECT_EQ(treat(order(7302)), (Treatment{fastPath(), {}})) << "Linux cannot have it any more";
    EXPECT_EQ(treat(order(7304)), (Treatment{fastPath(), at(1, lastChanged(order(7304)))})) << "changed";
    EXPECT_EQ(treat(order(7308)), (Treatment{fastPath(), {}})) << "more than was measured";
    auto shorter = order(7309);
    shorter.bytes.pop_back();
    EXPECT_EQ(treat(order(7309)), (Treatment{fastPath(), at(1, shorter)}));
    EXPECT_EQ(modules_.said("obedient", "egress"), (Said{{"drop", 1}, {"faults", 2}, {"continue", 2}}));
}

TEST_P(Hooks, TagsAreDoneAfterModules) {
    if (command({"sh", "-c", "ip link set br0 type bridge vlan_filtering 1"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    must("bridge vlan add dev p1 vid 1");
    const auto tagged = FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 1).udp();
    // Both are unknown in that VLAN.
    treat(oneToTwo());
    treat(FrameBuilder().ethernet(station(1), station(2)).vlan(0x8100, 1).udp(), 1);
    ASSERT_TRUE(eventually([&] {
        pump();
        return treat(oneToTwo()) == Treatment{fastPath(), at(1, tagged)};
    })) << ::testing::PrintToString(treat(oneToTwo()));
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody, {}}));
    EXPECT_EQ(treat(order(7102)),
              (Treatment{nobody, at(1, [] {
                             auto frame =
                                 FrameBuilder().ethernet(station(2), station(1)).vlan(0x8100, 1).udp();
                             frame.bytes[40] = 7102 >> 8;
                             frame.bytes[41] = 7102 & 0xff;
                             return frame;
                         }())}));
}

class RouteHooks : public RouteTest, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        RouteTest::SetUp();
        if (IsSkipped())
            return;
        routesAtLast();
        accelerate();
        if (!IsSkipped() && !HasFatalFailure())
            modules_.insert("obedient", moduleObject(GetParam()));
    }
    ModuleControl modules_{controller_};
};

TEST_P(RouteHooks, PacketIsRoutedAfterModules) {
    expectFast(packet());
    expectFast(packet());
    EXPECT_EQ(modules_.said("obedient", "route"), (Said{{"continue", 2}}));
    const auto dropped = toUdpPort(packet(), 7201), slow = toUdpPort(packet(), 7202);
    EXPECT_EQ(treat(dropped), (Treatment{nobody, {}}));
    EXPECT_EQ(treat(slow), (Treatment{nobody, routedTo(slow)})) << "untouched so far, Linux routes it";
    auto other = toUdpPort(packet(), 7207);
    EXPECT_EQ(treat(other), (Treatment{slowPath("module-changed"), {}})) << "for another MAC address";
    EXPECT_EQ(treat(toUdpPort(packet(), 7211)).path, slowPath("module-changed")) << "of another port";
}

/// A bridge whose frames are switched and routed, with a module that asks for nothing: what it would be told
/// is not noted.
class LookingHooks : public FromBridge, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        FromBridge::SetUp();
        if (IsSkipped())
            return;
        learnt(3, "p2");
        switchBeside();
        accelerate();
        if (!IsSkipped() && !HasFatalFailure())
            modules_.insert("looking", moduleObject(GetParam()));
    }
    /// A bridge that routes nothing: station(4) is behind p3, station(5) behind p4.
    void switchBeside() {
        must("ip link add br3 type bridge mcast_snooping 0 ageing_time 6400000");
        must("ip link set br3 up");
        for (const unsigned number : {3U, 4U}) {
            const auto n = std::to_string(number);
            must("ip link add p" + n + " type veth peer name far" + n + " netns " + farSide_->name());
            must("ip link set p" + n + " master br3 up");
            learnt(number + 1, "p" + n);
            const auto inside = farSide_->enter();
            must("ip link set far" + n + " up");
            must("ethtool -K far" + n + " gro on");
            farPorts_[number].emplace("far" + n);
        }
    }
    ModuleControl modules_{controller_};
};

TEST_P(LookingHooks, WhatIsBridgedIsNotWhatWasRoutedBefore) {
    const auto bridged = FrameBuilder().ethernet(station(3), station(1)).udp();
    for (int i = 0; i < 2; i++) {
        expectFast(packet());
        EXPECT_EQ(treat(bridged), (Treatment{fastPath(), {{2, {bridged}}}}));
        EXPECT_EQ(treat(bridged), (Treatment{fastPath(), {{2, {bridged}}}}));
    }
    EXPECT_EQ(modules_.said("looking", "bridge"), (Said{{"continue", 4}}));
    EXPECT_EQ(modules_.said("looking", "route"), (Said{{"continue", 2}}));
}

/// What has been noted is the processor's: the next frame may be of a profile that routes nothing.
TEST_P(LookingHooks, WhatIsBridgedIsNotWhatWasRoutedByAnotherPort) {
    const auto bridged = FrameBuilder().ethernet(station(5), station(4)).udp();
    expectFast(packet());
    EXPECT_EQ(treat(bridged, 3), (Treatment{fastPath(), {{4, {bridged}}}}));
}

INSTANTIATE_TEST_SUITE_P(, Hooks, withAnyStack, nameOfModule);
INSTANTIATE_TEST_SUITE_P(, LookingHooks, ::testing::Values("looking", "looking_deep"), nameOfModule);
INSTANTIATE_TEST_SUITE_P(, RouteHooks, withAnyStack, nameOfModule);

} // namespace
} // namespace tna::test
