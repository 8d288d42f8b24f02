// SPDX-License-Identifier: Apache-2.0
// When connections are learnt, and what is told of the rules that packets pass.
#include "supervisor_fixture.hpp"
#include "support/eventually.hpp"

namespace tna::test {
namespace {

class LearningTest : public SupervisorTest {
protected:
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
    begin();
    path().canLearn = false;
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
