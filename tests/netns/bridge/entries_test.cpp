// SPDX-License-Identifier: Apache-2.0
// Ports start with an entry program that they share, and get one each later: nobody may notice.
#include "bridge_fixture.hpp"

namespace tna::test {
namespace {

class Entries : public AcceleratedBridgeTest {
protected:
    void settlePorts() {
        for (int ports = 0; ports < 3; ports++)
            controller_->settle();
        ASSERT_TRUE(controller_->settled());
    }
    static std::string attachedTo(const std::string& port) {
        const auto text = command({"ip", "-d", "link", "show", port}).output;
        const auto at = text.find("prog/xdp");
        return at == std::string::npos ? "" : text.substr(at, text.find(' ', at + 12) - at);
    }
    void expectAllFast() {
        EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
        EXPECT_EQ(treat(twoToOne(), 1), (Treatment{fastPath(), {{0, {twoToOne()}}}}));
    }
    /// An empty pipeline counts nothing.
    void expectFirstPortEmptyAndSecondFast() {
        EXPECT_EQ(treat(oneToTwo()), (Treatment{Path{}, {{1, {oneToTwo()}}}}));
        EXPECT_EQ(treat(twoToOne(), 1), (Treatment{fastPath(), {{0, {twoToOne()}}}}));
    }
    void changeFirstPortAndBack() {
        must("ip link set p0 type bridge_slave learning off");
        must("bridge fdb replace " + text(station(1)) + " dev p0 master static");
        ASSERT_TRUE(reaches("p0", "linux"));
        expectFirstPortEmptyAndSecondFast();
        must("ip link set p0 type bridge_slave learning on");
        ASSERT_TRUE(reaches("p0", "accelerated"));
        expectAllFast();
    }
};

TEST_F(Entries, SharedAtFirstAndOwnLaterWithoutMissingAFrame) {
    EXPECT_FALSE(controller_->settled());
    ASSERT_NE(attachedTo("p0"), "");
    EXPECT_EQ(attachedTo("p0"), attachedTo("p1"));
    expectAllFast();
    settlePorts();
    EXPECT_NE(attachedTo("p0"), attachedTo("p1"));
    expectAllFast();
}

TEST_F(Entries, ChangingOnePortLeavesOthersFastWhileTheyShare) {
    changeFirstPortAndBack();
    EXPECT_EQ(attachedTo("p1"), attachedTo("p2"));
}

TEST_F(Entries, ChangingOnePortLeavesOthersFastWhenTheyHaveTheirOwn) {
    settlePorts();
    const auto before = attachedTo("p0");
    changeFirstPortAndBack();
    EXPECT_EQ(attachedTo("p0"), before);
}

TEST_F(Entries, EmptyPortStaysEmptyWhenOthersAreSettled) {
    must("ip link set p0 type bridge_slave learning off");
    must("bridge fdb replace " + text(station(1)) + " dev p0 master static");
    ASSERT_TRUE(reaches("p0", "linux"));
    settlePorts();
    expectFirstPortEmptyAndSecondFast();
}

} // namespace
} // namespace tna::test
