// SPDX-License-Identifier: Apache-2.0
// When it is learnt what passes rules of bridges.
#include "supervisor_fixture.hpp"
#include "support/eventually.hpp"

namespace tna::test {
namespace {

/// A bridge with one port.
class BridgeLearningTest : public SupervisorTest {
protected:
    void begin(unsigned connections = 16) {
        wanted_.config.limits.connections = connections;
        start();
    }
    void rulesCome(const char* family = "bridge") {
        announce([=](model::Network& model) {
            model.netfilter.hooks.push_back({family, "guard", "forward", "forward", ""});
        });
    }
    void rulesGo(const char* family = "bridge") {
        announce([=](model::Network& model) {
            std::erase_if(model.netfilter.hooks, [&](const auto& hook) { return hook.family == family; });
        });
    }
    bool isTold(std::uint32_t generation) {
        return eventually([&] {
            EXPECT_TRUE(supervisor_->onReadable());
            const auto& all = path().judgements;
            return !all.empty() && all.back().generation == generation;
        });
    }
};

TEST_F(BridgeLearningTest, BeginsWithRulesAndEndsWithThem) {
    begin();
    EXPECT_EQ(path().bridgeLearners, 0);
    EXPECT_FALSE(port().profile->bridgeRules);
    rulesCome();
    EXPECT_EQ(path().bridgeLearners, 1);
    EXPECT_EQ(path().learners, 0U) << "there are no rules of IP";
    EXPECT_TRUE(port().profile->bridgeRules);
    EXPECT_EQ(kernel_->connections, 16U);
    EXPECT_TRUE(isTold(5));
    rulesGo();
    EXPECT_EQ(path().bridgeLearners, 0);
    EXPECT_FALSE(port().profile->bridgeRules);
}

TEST_F(BridgeLearningTest, IsNotWantedForRulesOfOthers) {
    begin();
    rulesCome("inet");
    EXPECT_EQ(path().bridgeLearners, 0);
    EXPECT_FALSE(port().profile->bridgeRules);
}

TEST_F(BridgeLearningTest, GoesOnWhenRulesOfOthersComeAndGo) {
    begin();
    rulesCome();
    ASSERT_TRUE(isTold(5));
    kernel_->generation = 6;
    rulesCome("inet");
    rulesGo("inet");
    EXPECT_EQ(path().bridgeLearners, 1);
    announce([](model::Network&) {}, {.ruleSets = true, .links = {}});
    EXPECT_TRUE(isTold(6));
}

TEST_F(BridgeLearningTest, IsOnlyDoneWhereItIsWanted) {
    begin(0);
    rulesCome();
    EXPECT_EQ(path().bridgeLearners, 0);
    EXPECT_FALSE(port().profile->bridgeRules);
    EXPECT_EQ(kernel_->loads, 1U);
}

/// Whether rules see the frame's tag depends on the place.
TEST_F(BridgeLearningTest, IsNotDoneWhereVlansAreFiltered) {
    auto& links = network_->model.links;
    links.at(links.at(portIndex).master).bridge->vlanFiltering = true;
    begin();
    rulesCome();
    EXPECT_EQ(path().bridgeLearners, 0);
}

TEST_F(BridgeLearningTest, IsTriedOnceWhereItIsImpossible) {
    kernel_->canLearn = false;
    begin();
    rulesCome();
    EXPECT_EQ(path().bridgeLearners, 0);
    EXPECT_TRUE(supervisor_->connections().impossibleForBridges());
    EXPECT_FALSE(port().profile->bridgeRules);
    path().canLearn = true;
    announce([](model::Network&) {}, {.ruleSets = true, .links = {}});
    EXPECT_EQ(path().bridgeLearners, 0);
}

} // namespace
} // namespace tna::test
