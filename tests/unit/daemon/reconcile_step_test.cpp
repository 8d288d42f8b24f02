// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconcile_step.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

using daemon::Failures;
using daemon::InPlace;
using Links = std::set<model::IfIndex>;

Error failedWith(int number) {
    return {"cannot attach", "", "", ExitCode::failure, number};
}

deploy::Applied failing(Failures failures) {
    deploy::Applied applied;
    applied.failures = std::move(failures);
    return applied;
}

model::Network networkOf(const Links& links) {
    model::Network network;
    for (const auto ifindex : links)
        network.links[ifindex].ifindex = ifindex;
    return network;
}

assemble::Plan planOf(const Links& links) {
    assemble::Plan plan;
    for (const auto ifindex : links)
        plan.ports[ifindex].ifindex = ifindex;
    return plan;
}

TEST(ReconcileStep, WhatWasPlannedIsInPlace) {
    const auto step =
        daemon::stepAfter({}, planOf({1, 2}), failing({{2, failedWith(EBUSY)}}), networkOf({1, 2}), {}, {});
    EXPECT_EQ(step.now.plan, planOf({1, 2}));
    EXPECT_TRUE(step.now.failures.contains(2));
    EXPECT_FALSE(step.forgetFlows);
    EXPECT_EQ(step.lost, Links{});
    EXPECT_EQ(step.doubtful, Links{});
}

/// It is told of as what it is, and tried again.
TEST(ReconcileStep, PortThatCannotBeAtTcxAsWellIsAtXdp) {
    auto plan = planOf({1, 2});
    for (auto& [ifindex, port] : plan.ports) {
        port.profile = assemble::Profile{.tcxBehind = true};
        port.behind = assemble::Profile{.hook = assemble::Hook::tcx};
        port.hookWhy = "both";
    }
    deploy::Applied applied;
    applied.onlyAtXdp = {{2, failedWith(ENOMEM)}};
    const auto step = daemon::stepAfter({}, plan, std::move(applied), networkOf({1, 2}), {}, {});
    EXPECT_EQ(step.now.plan.ports.at(1), plan.ports.at(1));
    const auto& alone = step.now.plan.ports.at(2);
    EXPECT_TRUE(alone.profile && !alone.behind && !alone.profile->tcxBehind);
    EXPECT_EQ(alone.hookWhy, failedWith(ENOMEM).sentence());
    EXPECT_TRUE(step.now.failures.empty());
    EXPECT_TRUE(step.now.onlyAtXdp.contains(2));
}

TEST(ReconcileStep, LinksThatHadAProgramAndHaveNoneAreLost) {
    const auto step = daemon::stepAfter({}, {}, {}, {}, {1, 2, 3}, {2, 4});
    EXPECT_EQ(step.lost, (Links{1, 3}));
}

TEST(ReconcileStep, WhatTheKernelAlsoSaysOfLinksThatAreGoneIsInDoubt) {
    const Failures failures{{1, failedWith(EINVAL)},
                            {2, failedWith(ENODEV)},
                            {3, failedWith(EBUSY)},
                            {4, failedWith(0)},
                            {5, failedWith(ENOLINK)}};
    const auto step = daemon::stepAfter({}, planOf({1, 2, 3, 4, 5}), failing(failures), {}, {}, {});
    EXPECT_EQ(step.doubtful, (Links{1, 2, 5}));
}

TEST(ReconcileStep, WhatHasFailedBeforeIsNotInDoubt) {
    InPlace before;
    before.failures = {{1, failedWith(EBUSY)}};
    const auto step = daemon::stepAfter(before, planOf({1}), failing({{1, failedWith(EINVAL)}}), {}, {}, {});
    EXPECT_EQ(step.doubtful, Links{});
}

TEST(ReconcileStep, OfDoubtfulLinksThoseThatAreGoneWereNeverAnything) {
    InPlace inPlace{planOf({1, 2, 3}), {{1, failedWith(EINVAL)}, {2, failedWith(EINVAL)}}};
    daemon::dropGone(inPlace, {1, 2}, networkOf({2}));
    EXPECT_EQ(inPlace.plan, planOf({2, 3}));
    ASSERT_EQ(inPlace.failures.size(), 1U);
    EXPECT_TRUE(inPlace.failures.contains(2));
}

TEST(ReconcileStep, OnlyWhatDidNotFailBeforeIsNew) {
    const auto fresh =
        daemon::newFailures({{1, failedWith(EBUSY)}}, {{1, failedWith(EPERM)}, {2, failedWith(EPERM)}});
    ASSERT_EQ(fresh.size(), 1U);
    EXPECT_TRUE(fresh.contains(2));
}

TEST(ReconcileStep, FlowsAreForgottenWhereABridgeTimesItsStationsDifferently) {
    auto network = networkOf({1});
    network.links.at(1).bridge.emplace();
    InPlace before;
    before.presumed = assemble::presumedIn(network);
    EXPECT_FALSE(daemon::stepAfter(before, {}, {}, network, {}, {}).forgetFlows);
    network.links.at(1).bridge->topologyChange = true;
    EXPECT_TRUE(daemon::stepAfter(before, {}, {}, network, {}, {}).forgetFlows);
}

TEST(ReconcileStep, FlowsAreForgottenWhereRoutesOfLinksThatAreDownCountOrNot) {
    auto network = networkOf({1});
    InPlace before;
    before.presumed = assemble::presumedIn(network);
    network.sysctls["net.ipv4.conf.all.ignore_routes_with_linkdown"] = "0";
    EXPECT_FALSE(daemon::stepAfter(before, {}, {}, network, {}, {}).forgetFlows);
    network.sysctls["net.ipv4.conf.all.ignore_routes_with_linkdown"] = "1";
    EXPECT_TRUE(daemon::stepAfter(before, {}, {}, network, {}, {}).forgetFlows);
    network.sysctls.clear();
    network.links.at(1).ip.ignoreRoutesWithLinkDown = true;
    EXPECT_TRUE(daemon::stepAfter(before, {}, {}, network, {}, {}).forgetFlows);
}

} // namespace
} // namespace tna::test
