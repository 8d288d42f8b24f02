// SPDX-License-Identifier: Apache-2.0
// Two pipelines as one fast path.
#include "assemble/hooks.hpp"
#include "deploy/both_hooks.hpp"
#include "fakes.hpp"

#include <gtest/gtest.h>

namespace tna::daemon {
namespace {

constexpr model::IfIndex card = 2;
constexpr model::IfIndex container = 3;

class BothHooksTest : public ::testing::Test {
protected:
    static assemble::PortPlan port(model::IfIndex ifindex, assemble::Hook hook) {
        assemble::PortPlan plan;
        plan.ifindex = ifindex;
        plan.hook = hook;
        plan.profile = assemble::Profile{.hook = hook};
        plan.egress = hook == assemble::Hook::xdp;
        plan.tcxEgress = true;
        return plan;
    }
    static assemble::PortPlan atBoth(model::IfIndex ifindex) {
        auto plan = port(ifindex, assemble::Hook::xdp);
        plan.profile->tcxBehind = true;
        plan.behind = assemble::Profile{.hook = assemble::Hook::tcx};
        return plan;
    }
    deploy::Applied apply(bool withContainer, bool cardAtBoth = false) {
        assemble::Plan plan;
        plan.ports.emplace(card, cardAtBoth ? atBoth(card) : port(card, assemble::Hook::xdp));
        if (withContainer)
            plan.ports.emplace(container, port(container, assemble::Hook::tcx));
        return both_.apply(plan, {});
    }

    std::shared_ptr<test::PathState> xdp_ = std::make_shared<test::PathState>();
    std::shared_ptr<test::PathState> tcx_ = std::make_shared<test::PathState>();
    unsigned loads_ = 0;
    bool loadable_ = true;
    deploy::BothHooks both_{std::make_unique<test::FakePath>(xdp_),
                            [this]() -> Result<deploy::BothHooks::Path> {
                                loads_++;
                                if (!loadable_)
                                    return fail("it does not load");
                                return std::make_unique<test::FakePath>(tcx_);
                            }};
};

TEST_F(BothHooksTest, SecondPipelineIsLoadedForTheFirstPortThatNeedsIt) {
    EXPECT_EQ(apply(false).swapped, 1U);
    EXPECT_EQ(loads_, 0U);
    apply(true);
    apply(true);
    EXPECT_EQ(loads_, 1U);
    EXPECT_TRUE(both_.attached(card) && both_.attached(container));
    EXPECT_FALSE(xdp_->plan.ports.at(container).profile);
    EXPECT_FALSE(tcx_->plan.ports.at(card).profile);
    EXPECT_TRUE(tcx_->plan.ports.at(card).egress);
    apply(false);
    EXPECT_FALSE(assemble::anyProfile(tcx_->plan));
}

TEST_F(BothHooksTest, PortsOfOneThatDoesNotLoadFailAndTheOthersGoOn) {
    loadable_ = false;
    const auto applied = apply(true);
    EXPECT_EQ(applied.failures.size(), 1U);
    EXPECT_TRUE(applied.failures.contains(container));
    EXPECT_TRUE(both_.attached(card));
    loadable_ = true;
    EXPECT_TRUE(apply(true).failures.empty());
}

TEST_F(BothHooksTest, PortAtBothHasAProgramAtEach) {
    EXPECT_TRUE(apply(true, true).onlyAtXdp.empty());
    EXPECT_TRUE(xdp_->plan.ports.at(card).profile->tcxBehind);
    EXPECT_EQ(tcx_->plan.ports.at(card).profile->hook, assemble::Hook::tcx);
    EXPECT_TRUE(both_.attached(card));
    xdp_->attached.erase(card);
    EXPECT_FALSE(both_.attached(card)) << "that it is at tcx is not what is asked";
    EXPECT_TRUE(both_.attached(container));
}

/// What waits for nobody must be counted where it is left to Linux.
TEST_F(BothHooksTest, PortThatCannotBeAtTcxAsWellIsAtXdpOnly) {
    loadable_ = false;
    auto applied = apply(true, true);
    EXPECT_TRUE(applied.onlyAtXdp.contains(card));
    EXPECT_FALSE(applied.failures.contains(card));
    EXPECT_FALSE(xdp_->plan.ports.at(card).profile->tcxBehind);
    loadable_ = true;
    tcx_->failing.emplace(card, fail("it cannot be attached").error());
    applied = apply(true, true);
    EXPECT_TRUE(applied.onlyAtXdp.contains(card));
    EXPECT_TRUE(applied.failures.empty());
    EXPECT_FALSE(xdp_->plan.ports.at(card).profile->tcxBehind);
}

/// What fails at the one hook is not forgotten for what fails at the other one.
TEST_F(BothHooksTest, PortsFailAtEitherHook) {
    constexpr model::IfIndex other = 4;
    assemble::Plan plan;
    for (const auto ifindex : {card, other})
        plan.ports.emplace(ifindex, atBoth(ifindex));
    tcx_->failing.emplace(card, fail("it cannot be attached").error());
    xdp_->failing.emplace(other, fail("it cannot be attached").error());
    const auto applied = both_.apply(plan, {});
    EXPECT_TRUE(applied.onlyAtXdp.contains(card));
    EXPECT_TRUE(applied.failures.contains(other));
    EXPECT_FALSE(xdp_->plan.ports.at(card).profile->tcxBehind);
    EXPECT_FALSE(tcx_->plan.ports.at(card).profile || tcx_->plan.ports.at(other).profile);
    xdp_->failing.clear();
    EXPECT_TRUE(both_.apply(plan, {}).failures.empty());
    EXPECT_TRUE(tcx_->plan.ports.at(other).profile) << "it is there again";
}

TEST_F(BothHooksTest, PortAtBothThatFailsAtXdpIsLinuxs) {
    xdp_->failing.emplace(card, fail("it cannot be attached").error());
    const auto applied = apply(true, true);
    EXPECT_TRUE(applied.failures.contains(card));
    EXPECT_TRUE(applied.onlyAtXdp.empty());
    EXPECT_FALSE(tcx_->plan.ports.at(card).profile);
    EXPECT_TRUE(tcx_->plan.ports.at(container).profile);
}

TEST_F(BothHooksTest, MistrustIsThatOfBoth) {
    xdp_->mistrusted = {"bridge"};
    apply(true);
    EXPECT_EQ(tcx_->takenOver.modules, 1U) << "what is loaded later begins with it";
    tcx_->mistrusted = {"bridge", "route"};
    EXPECT_EQ(both_.selfCheck().mistrusted(), (std::vector<std::string>{"bridge", "route"}));
    both_.selfCheck().trust();
    EXPECT_TRUE(xdp_->mistrusted.empty() && tcx_->mistrusted.empty());
}

TEST_F(BothHooksTest, WhatIsAttachedIsHandedOverByBoth) {
    apply(true);
    EXPECT_EQ(both_.attachedPrograms().handOver().size(), 2U);
    both_.forgetFlows();
    EXPECT_EQ(xdp_->forgotten + tcx_->forgotten, 2U);
    tcx_->cut = true;
    EXPECT_TRUE(both_.anyCut());
}

/// As many entries as are left to be prepared.
class Preparing : public deploy::AttachedPrograms {
public:
    explicit Preparing(unsigned left) : left_(left) {}
    [[nodiscard]] std::vector<UniqueFd> handOver() override { return std::vector<UniqueFd>(left_); }
    void inherit(std::vector<UniqueFd> links) override { inherited_ += links.size(); }
    [[nodiscard]] bool settled() const override { return left_ == 0; }
    void settleNext() override { left_--; }

    unsigned left_;
    std::size_t inherited_ = 0;
};

TEST(AttachedAtBoth, IsPreparedAtXdpFirst) {
    Preparing xdp{1};
    Preparing tcx{2};
    deploy::AttachedAtBoth both{xdp};
    EXPECT_EQ(both.handOver().size(), 1U);
    both.add(tcx);
    EXPECT_EQ(both.handOver().size(), 3U);
    for (const unsigned left : {2U, 1U, 0U}) {
        EXPECT_FALSE(both.settled());
        both.settleNext();
        EXPECT_EQ(xdp.left_, 0U);
        EXPECT_EQ(tcx.left_, left);
    }
    EXPECT_TRUE(both.settled());
}

TEST(AttachedAtBoth, WhatIsNoLinkAtTcxIsXdps) {
    Preparing xdp{0};
    deploy::AttachedAtBoth both{xdp};
    both.inherit(std::vector<UniqueFd>(2));
    EXPECT_EQ(xdp.inherited_, 2U);
}

} // namespace
} // namespace tna::daemon
