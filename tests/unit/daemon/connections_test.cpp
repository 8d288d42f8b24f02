// SPDX-License-Identifier: Apache-2.0
// When connections are learnt, and what is told of the rules that packets pass.
#include "supervisor_fixture.hpp"
#include "support/eventually.hpp"

namespace tna::test {
namespace {

class LearningTest : public SupervisorTest {
protected:
    static constexpr model::IfIndex otherIndex = 9;

    /// Two ports that packets are routed by.
    LearningTest() {
        auto& port = network_->model.links.at(portIndex);
        port.master = 0;
        port.bridgePort.reset();
        port.flags = model::link_flag::up;
        port.ip.forwarding4 = true;
        port.addresses = {{4, "10.0.0.1/24", "global"}};
        auto& other = network_->model.links[otherIndex] = port;
        other.ifindex = otherIndex;
        other.name = "eth1";
        kernel_->devices[otherIndex] = kernel_->devices.at(portIndex);
    }

    void begin(unsigned connections = 16) {
        wanted_.config.limits.connections = connections;
        start();
    }
    void rulesCome() {
        announce([](model::Network& model) {
            model.netfilter.hooks.push_back({"inet", "guard", "forward", "forward", ""});
        });
    }
    void rulesGo() {
        announce([](model::Network& model) { model.netfilter.hooks.clear(); });
    }
    void rulesChange() {
        announce([](model::Network&) {}, {.ruleSets = true, .links = {}});
    }
    /// What the fast path has been told last.
    bool isTold(std::uint32_t generation) {
        return eventually([&] {
            EXPECT_TRUE(supervisor_->onReadable());
            const auto& all = path().judgements;
            return !all.empty() && all.back().generation == generation;
        });
    }
};

TEST_F(LearningTest, BeginsWithRulesAndEndsWithThem) {
    begin();
    EXPECT_EQ(path().learners, 0U);
    rulesCome();
    EXPECT_EQ(path().learners, 1U);
    EXPECT_TRUE(isTold(5));
    rulesGo();
    EXPECT_EQ(path().learners, 0U);
    rulesCome();
    EXPECT_EQ(path().learners, 1U);
}

TEST_F(LearningTest, IsOnlyDoneWhereItIsWanted) {
    begin(0);
    rulesCome();
    EXPECT_EQ(path().learners, 0U);
    EXPECT_EQ(kernel_->loads, 1U);
}

TEST_F(LearningTest, IsOnlyDoneWherePacketsHaveSomewhereToGo) {
    network_->model.links.erase(otherIndex);
    begin();
    rulesCome();
    EXPECT_EQ(path().learners, 0U);
    EXPECT_FALSE(port().profile->rules);
    EXPECT_EQ(kernel_->loads, 1U);
}

TEST_F(LearningTest, IsToldBetweenWhichDevices) {
    begin();
    rulesCome();
    EXPECT_EQ(path().places, supervisor_->plan().wide.flowPlaces);
    EXPECT_EQ(path().places.size(), 2U);
    wanted_.paused.ports = {"eth1"};
    supervisor_->reconcile();
    EXPECT_TRUE(path().places.empty());
    EXPECT_FALSE(port().profile->rules);
    EXPECT_EQ(path().learners, 1U) << "what has been learnt is minded all the same";
}

/// Connections take much memory.
TEST_F(LearningTest, HasRoomMadeForItOnceThereAreRules) {
    begin();
    EXPECT_EQ(kernel_->connections, 0U);
    rulesCome();
    EXPECT_EQ(kernel_->connections, 16U);
    EXPECT_EQ(kernel_->loads, 2U);
    EXPECT_TRUE(port().profile->rules);
    EXPECT_TRUE(path().attached.contains(portIndex));
    rulesGo();
    rulesCome();
    EXPECT_EQ(kernel_->loads, 2U);
}

TEST_F(LearningTest, HasRoomFromTheBeginningWhereThereAreRules) {
    network_->model.netfilter.hooks.push_back({"inet", "guard", "forward", "forward", ""});
    begin();
    EXPECT_EQ(kernel_->connections, 16U);
    EXPECT_EQ(kernel_->loads, 1U);
    EXPECT_EQ(path().learners, 1U);
}

TEST_F(LearningTest, IsNotBegunWhereThereIsNoRoom) {
    begin();
    kernel_->refused = refusal(ENOMEM);
    rulesCome();
    EXPECT_EQ(path().learners, 0U);
    EXPECT_TRUE(path().attached.contains(portIndex));
    kernel_->refused.reset();
    now_ += seconds(2);
    rulesChange();
    supervisor_->reconcile();
    EXPECT_EQ(path().learners, 1U);
}

TEST_F(LearningTest, TellsOfRulesThatChange) {
    begin();
    rulesCome();
    ASSERT_TRUE(isTold(5));
    kernel_->generation = 6;
    rulesChange();
    EXPECT_TRUE(isTold(6));
}

TEST_F(LearningTest, LooksAgainWherePacketsMeetOtherFunctions) {
    begin();
    rulesCome();
    ASSERT_TRUE(isTold(5));
    const unsigned before = kernel_->ruleReadings;
    wait(seconds(1));
    EXPECT_EQ(kernel_->ruleReadings, before);
    path().missed = true;
    wait(seconds(1));
    EXPECT_TRUE(eventually([&] { return kernel_->ruleReadings > before; }));
}

TEST_F(LearningTest, IsTriedOnceWhereItIsImpossible) {
    kernel_->canLearn = false;
    begin();
    rulesCome();
    EXPECT_EQ(path().learners, 0U);
    EXPECT_TRUE(supervisor_->connections().impossible());
    path().canLearn = true;
    rulesChange();
    EXPECT_EQ(path().learners, 0U);
}

TEST_F(LearningTest, GoesOnWithAnotherFastPath) {
    begin();
    rulesCome();
    const auto before = kernel_->paths.back();
    kernel_->kernelModules["br_netfilter"] = 1;
    wait(seconds(1));
    ASSERT_NE(kernel_->paths.back(), before);
    EXPECT_EQ(before->learners, 0U);
    EXPECT_EQ(path().learners, 1U);
    EXPECT_TRUE(isTold(5));
}

} // namespace
} // namespace tna::test
