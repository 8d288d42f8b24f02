// SPDX-License-Identifier: Apache-2.0
// Ports of containers come and go, and the operator may want them back.
#include "tcx_fixture.hpp"

namespace tna::test {
namespace {

class TcxLifecycle : public TcxTest {
protected:
    /// The port p1 with its far end, as before.
    void comesAgain() {
        must("ip link add p1 type veth peer name far1 netns " + farSide_->name());
        inFar("ip link set far1 up");
        must("ip link set p1 master br0 up");
        const auto inside = farSide_->enter();
        farPorts_[1].emplace("far1");
    }
    void becomesFast() {
        ASSERT_TRUE(reaches("p1", "accelerated"));
        ASSERT_TRUE(eventually([&] {
            (void)treat(twoToOne(), 1);
            return treat(oneToTwo()).out == usual().out;
        }));
        EXPECT_EQ(treat(oneToTwo()), usual());
    }
};

TEST_F(TcxLifecycle, PortThatIsPausedIsLinuxsUntilItIsResumed) {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(controller_->pause("p0", true));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{{}, usual().out}));
    ASSERT_TRUE(controller_->pause("p0", false));
    EXPECT_EQ(treat(oneToTwo()), usual());
}

TEST_F(TcxLifecycle, ContainerThatDiesAndTheNextOneWithItsPortsName) {
    ASSERT_NO_FATAL_FAILURE(start());
    for (int times = 0; times < 3; times++) {
        farPorts_[1].reset();
        must("ip link del p1");
        EXPECT_EQ(treat(oneToTwo()).path.fast, 0U);
        comesAgain();
        ASSERT_NO_FATAL_FAILURE(becomesFast());
    }
}

TEST_F(TcxLifecycle, PortThatMovesToAnotherNamespaceAndBack) {
    ASSERT_NO_FATAL_FAILURE(start());
    const Namespace other;
    must("ip link set p1 netns " + other.name());
    EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath("unknown-unicast"), {{2, {oneToTwo()}}}}));
    pump();
    {
        const auto inside = other.enter();
        must("ip link set p1 netns " + dut_->name());
    }
    must("ip link set p1 master br0 up");
    ASSERT_NO_FATAL_FAILURE(becomesFast());
}

} // namespace
} // namespace tna::test
