// SPDX-License-Identifier: Apache-2.0
// More ports than the configuration has room for: those that come too late are left to Linux, and say so,
// until one of the others goes.
#include "faults_fixture.hpp"

namespace tna::test {
namespace {

class Room : public FaultsTest, public ::testing::WithParamInterface<const char*> {
protected:
    [[nodiscard]] nlohmann::json portOf(const std::string& name) const {
        const auto document = controller_->port(name);
        return document ? (*document)["port"] : nlohmann::json();
    }
    /// Each tick tries what failed.
    [[nodiscard]] bool becomesAccelerated(const std::string& name) const {
        return eventually([&] {
            controller_->onTick();
            return controller_->onNetlink() && portOf(name)["state"] == "accelerated";
        });
    }
    void expectNoRoomFor(const std::string& name) const {
        EXPECT_TRUE(controller_->onNetlink());
        EXPECT_NE(portOf(name)["state"], "accelerated");
        EXPECT_NE(portOf(name).dump().find("max_ports"), std::string::npos) << portOf(name).dump(2);
    }
};

TEST_P(Room, ForFewerPortsThanThereAre) {
    config_.kernel.fdb = GetParam();
    config_.limits.maxPorts = 2;
    startAgain();
    ASSERT_TRUE(controller_);
    for (const char* name : {"p0", "p1"})
        EXPECT_EQ(portOf(name)["state"], "accelerated");
    expectNoRoomFor("p2");
    expectAsPlainLinux();
    EXPECT_GT(portOf("p1")["fast_packets"], 0);
    must("ip link set p1 nomaster");
    EXPECT_TRUE(becomesAccelerated("p2")) << portOf("p2").dump(2);
    EXPECT_EQ(portOf("p2")["fast_packets"], 0) << "what the other one has counted in the same place";
    must("ip link set p1 master br0");
    learn();
    expectNoRoomFor("p1");
    expectAsPlainLinux();
}

INSTANTIATE_TEST_SUITE_P(Faults, Room, ::testing::Values("auto", "mirror"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tna::test
