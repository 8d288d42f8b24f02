// SPDX-License-Identifier: Apache-2.0
// The kfuncs of kernel-patches/ on bridges that filter VLANs: each way in, each way out, each tag.
#include "lookup_fixture.hpp"

namespace tna::test {
namespace {

const std::vector<std::string> memberships{"", "vid 10", "vid 10 untagged", "vid 10 pvid",
                                           "vid 10 pvid untagged"};

class VlanLookup : public LookupTest, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        LookupTest::SetUp();
        if (IsSkipped())
            return;
        const std::string protocol = GetParam();
        if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0)
            GTEST_SKIP() << "this kernel's bridge does not filter VLANs";
        must("ip link set br0 type bridge vlan_default_pvid 0 vlan_protocol " + protocol);
    }
    /// The port's station stays known when the port leaves the VLAN.
    static void join(const std::string& port, const std::string& membership) {
        must("bridge vlan add dev " + port + " " + (membership.empty() ? "vid 10" : membership));
        must("bridge fdb replace " + text(station(port == "p0" ? 1 : 2)) + " dev " + port +
             " master static vlan 10");
        if (membership.empty())
            must("bridge vlan del dev " + port + " vid 10");
    }
    static FrameBuilder start() { return FrameBuilder().ethernet(station(2), station(1)); }
    static std::vector<Frame> frames() {
        return {start().udp(),
                start().vlan(0x8100, 10).udp(),
                start().vlan(0x8100, 0x600a).udp(),
                start().vlan(0x8100, 0x6000).udp(),
                start().vlan(0x8100, 20).udp(),
                start().vlan(0x88a8, 10).udp(),
                start().vlan(0x88a8, 0x6000).udp(),
                start().vlan(0x88a8, 10).vlan(0x8100, 20).udp(),
                start().vlan(0x8100, 10).vlan(0x8100, 10).udp()};
    }
};

TEST_P(VlanLookup, EveryWayInAndOutIsAsLinuxDoesIt) {
    std::map<int, unsigned> told;
    for (const auto& in : memberships)
        for (const auto& out : memberships) {
            join("p0", in);
            join("p1", out);
            for (const auto& frame : frames()) {
                SCOPED_TRACE("in '" + in + "', out '" + out + "', " + ::testing::PrintToString(frame));
                told[agreed(frame)]++;
            }
        }
    // Each of the three must have been met, or this compares nothing.
    EXPECT_GE(told[BPF_BR_FDB_RET_FORWARD], 20U);
    EXPECT_GE(told[BPF_BR_FDB_RET_BLOCKED], 20U);
    EXPECT_GE(told[BPF_BR_FDB_RET_NO_EGRESS], 4U);
}

TEST_P(VlanLookup, EntriesOfOtherVlansDoNotCount) {
    join("p0", "vid 10 pvid untagged");
    join("p1", "vid 10 pvid untagged");
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_FORWARD);
    for (const char* port : {"p0", "p1"})
        must(std::string("bridge vlan add vid 11 pvid untagged dev ") + port);
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_LEARN);
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_FLOOD);
}

TEST_P(VlanLookup, StateOfTheVlanCounts) {
    join("p0", "vid 10 pvid untagged");
    join("p1", "vid 10 pvid untagged");
    const auto set = [](const std::string& port, const char* state) {
        return command({"bridge", "vlan", "set", "dev", port, "vid", "10", "state", state}).exitCode == 0;
    };
    if (!set("p0", "forwarding"))
        GTEST_SKIP() << "this kernel has no states of VLANs";
    ASSERT_TRUE(set("p0", "blocking"));
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_BLOCKED);
    ASSERT_TRUE(set("p0", "learning"));
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_BLOCKED);
    ASSERT_TRUE(set("p0", "forwarding"));
    ASSERT_TRUE(set("p1", "learning"));
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_NO_EGRESS);
    ASSERT_TRUE(set("p1", "forwarding"));
    EXPECT_EQ(agreed(start().udp()), BPF_BR_FDB_RET_FORWARD);
}

INSTANTIATE_TEST_SUITE_P(Protocol, VlanLookup, ::testing::Values("802.1Q", "802.1ad"),
                         [](const auto& test) { return test.index == 0 ? "Dot1q" : "Dot1ad"; });

} // namespace
} // namespace tna::test
