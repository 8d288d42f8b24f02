// SPDX-License-Identifier: Apache-2.0
// Kernel modules that come and go while the daemon runs. Only in a virtual machine of tests/vm: modules are
// the whole system's.
#include "bridge_fixture.hpp"

#include <cstdlib>

namespace tna::test {
namespace {

class Modules : public BridgeTest {
protected:
    void SetUp() override {
        if (std::getenv("TNA_IN_VM") == nullptr)
            GTEST_SKIP() << "loads kernel modules: runs in tests/vm only";
        if (command({"modprobe", "br_netfilter"}).exitCode != 0)
            GTEST_SKIP() << "this kernel has no br_netfilter module";
        BridgeTest::SetUp();
        if (!IsSkipped())
            must("rmmod br_netfilter"); // modprobe -r would take the bridge module along
        if (!IsSkipped())
            accelerate();
        if (!IsSkipped())
            learn();
    }
    void TearDown() override { command({"modprobe", "br_netfilter"}); }

    static void callIptables(const std::string& value) {
        for (const char* name : {"iptables", "ip6tables"})
            sysctl(std::string("net.bridge.bridge-nf-call-") + name, value);
    }
    /// Lets the controller notice, and the fast path come back.
    void tick() {
        controller_->onTick();
        ASSERT_TRUE(reaches("p0", "accelerated"));
        ASSERT_TRUE(reaches("p1", "accelerated"));
    }
};

TEST_F(Modules, BridgeNetfilterThatComesLaterIsObeyedAtOnceAndUnderstoodSoon) {
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("modprobe br_netfilter");
    EXPECT_EQ(send(oneToTwo()), slowPath("bridge-netfilter"));
    callIptables("0");
    EXPECT_EQ(send(oneToTwo()), slowPath("bridge-netfilter"));
    tick();
    EXPECT_EQ(send(oneToTwo()), fastPath());
    callIptables("1");
    EXPECT_EQ(send(oneToTwo()), slowPath("br-netfilter"));
}

TEST_F(Modules, BridgeNetfilterThatGoesAndComesBackIsNotMistakenForTheOldOne) {
    must("modprobe br_netfilter");
    callIptables("0");
    tick();
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("rmmod br_netfilter");
    EXPECT_EQ(send(oneToTwo()).slow.count("bridge-netfilter"), 0U);
    must("modprobe br_netfilter");
    EXPECT_EQ(send(oneToTwo()).fast, 0U);
    callIptables("0");
    tick();
    EXPECT_EQ(send(oneToTwo()), fastPath());
}

/// What is in a discipline's settings is known by its module's types only.
TEST_F(Modules, QueueingDisciplineThatComesLaterIsUnderstoodSoon) {
    command({"modprobe", "-r", "sch_fq"});
    tick();
    if (command({"sh", "-c", "tc qdisc add dev p1 root fq"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no fq";
    EXPECT_EQ(send(oneToTwo()), slowPath("egress-qdisc"));
    tick();
    EXPECT_EQ(send(oneToTwo()), fastPath());
    must("tc qdisc change dev p1 root fq maxrate 8mbit");
    EXPECT_EQ(send(oneToTwo()), slowPath("egress-qdisc"));
}

} // namespace
} // namespace tna::test
