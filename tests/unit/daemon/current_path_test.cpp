// SPDX-License-Identifier: Apache-2.0
// The fast path in use: the first one, and others that take its place.
#include "supervisor_fixture.hpp"

#include <cerrno>
#include <fcntl.h>
#include <tna/fastpath.h>

namespace tna::test {
namespace {

class Starting : public SupervisorTest {};

TEST_F(Starting, GoesOnWithWhatIsAttached) {
    std::vector<UniqueFd> inherited(3);
    ASSERT_TRUE(supervisor_->start(std::move(inherited)));
    EXPECT_EQ(path().inherited, 3U);
    EXPECT_FALSE(path().handedOver);
}

TEST_F(Starting, FailsWhereNothingCanBeLoaded) {
    kernel_->refused = refusal(EPERM);
    const auto started = supervisor_->start({});
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().number, EPERM);
}

class KernelModules : public SupervisorTest {};

TEST_F(KernelModules, HaveTheFastPathLoadedAnew) {
    start();
    path().mistrusted = {"bridge"};
    auto& before = path();
    kernel_->kernelModules["br_netfilter"] = 1;
    wait(seconds(1));
    ASSERT_EQ(kernel_->paths.size(), 2U);
    EXPECT_TRUE(before.handedOver);
    EXPECT_EQ(path().inherited, 1U);
    EXPECT_EQ(path().takenOver.modules, 1U);
    EXPECT_EQ(path().plan, supervisor_->plan());
    EXPECT_EQ(told().at(0)["event"], "fast-path");
    wait(seconds(1));
    EXPECT_EQ(kernel_->loads, 2U);
}

TEST_F(KernelModules, ForWhichNothingCanBeLoadedAreTriedEverMoreRarely) {
    start();
    kernel_->kernelModules["br_netfilter"] = 1;
    kernel_->refused = refusal(ENOMEM);
    std::vector<int> tried;
    for (int second = 1; second <= 20; second++) {
        const auto before = kernel_->loads;
        wait(seconds(1));
        if (kernel_->loads != before)
            tried.push_back(second);
    }
    EXPECT_EQ(tried, (std::vector{1, 2, 4, 8, 16}));
    EXPECT_EQ(kernel_->paths.size(), 1U);
    EXPECT_FALSE(path().handedOver);
    EXPECT_TRUE(accelerated());
    kernel_->refused.reset();
    kernel_->kernelModules["br_netfilter"] = 2;
    wait(seconds(1));
    EXPECT_EQ(kernel_->paths.size(), 2U);
}

/// Kernels that are laid out differently.
class FallingBack : public SupervisorTest {
protected:
    FallingBack() { kernel_->wrong = true; }
};

TEST_F(FallingBack, WaitsWhetherItStaysWrong) {
    start();
    EXPECT_FALSE(accelerated());
    wait(seconds(1));
    EXPECT_EQ(kernel_->watchedLoads, 0U);
    kernel_->wrong = false;
    wait(seconds(1));
    EXPECT_TRUE(accelerated());
    EXPECT_EQ(kernel_->watchedLoads, 0U);
}

TEST_F(FallingBack, ReadsNothingInPlaceAnyMore) {
    start();
    auto& before = path();
    wait(seconds(2));
    ASSERT_EQ(kernel_->watchedLoads, 1U);
    EXPECT_TRUE(before.handedOver);
    EXPECT_EQ(supervisor_->observed().capabilities.way, capability::Way::watched);
    EXPECT_FALSE(supervisor_->way().checksItself());
    EXPECT_TRUE(path().open);
    EXPECT_EQ(told().at(0)["fdb"], "kfunc");
    EXPECT_EQ(path().plan, supervisor_->plan());
}

TEST_F(FallingBack, IsTriedAgainWhereItFails) {
    start();
    kernel_->watchedRefused = refusal(ENOMEM);
    wait(seconds(2));
    EXPECT_EQ(supervisor_->observed().capabilities.way, capability::Way::inPlace);
    EXPECT_EQ(reason(), "fdb-not-proved");
    EXPECT_EQ(told(), std::vector<nlohmann::json>{});
    kernel_->watchedRefused.reset();
    wait(seconds(1));
    EXPECT_EQ(kernel_->watchedLoads, 2U);
    EXPECT_EQ(supervisor_->observed().capabilities.way, capability::Way::watched);
}

TEST_F(FallingBack, IsNotWantedByWhoInsistsOnReadingInPlace) {
    wanted_.config.kernel.fdb = "in-place";
    start();
    wait(seconds(10));
    EXPECT_EQ(kernel_->watchedLoads, 0U);
    EXPECT_EQ(reason(), "fdb-not-proved");
}

/// Kernels that are not read in place.
class Watching : public SupervisorTest {
protected:
    Watching() { wanted_.config.kernel.fdb = "kfunc"; }
};

TEST_F(Watching, FramesAreLinuxsWhileItCannotBeReadWhatItWasTold) {
    start();
    EXPECT_TRUE(path().open);
    network_->unreadable = true;
    EXPECT_FALSE(supervisor_->onReadable());
    EXPECT_FALSE(path().open);
    network_->unreadable = false;
    EXPECT_TRUE(supervisor_->onReadable());
    EXPECT_TRUE(path().open);
    network_->unreadable = true;
    wait(seconds(1));
    EXPECT_FALSE(path().open);
}

TEST_F(Watching, FramesAreLinuxsWhileMoreWasAnnouncedThanWasTakenIn) {
    start();
    bool openMeanwhile = true;
    path().onApply = [&] { openMeanwhile = path().open; };
    announce([](auto&) {}, {.any = true, .behind = true, .links = {}});
    EXPECT_FALSE(openMeanwhile);
    EXPECT_FALSE(path().open);
    announce([](auto&) {});
    EXPECT_TRUE(path().open);
    network_->next = [](auto&) { return introspect::Changes{.behind = true, .links = {}}; };
    wait(seconds(1));
    EXPECT_FALSE(path().open);
    wait(seconds(1));
    network_->next = [](auto&) { return introspect::Changes{.behind = true, .links = {}}; };
    supervisor_->readAllAgain();
    EXPECT_FALSE(path().open);
}

TEST_F(Watching, FramesAreLinuxsWhileItCannotBeReadWhyAPortFailed) {
    start();
    path().failing.emplace(portIndex, refusal(EINVAL));
    path().onApply = [this] { network_->unreadable = true; };
    announce([](auto&) {});
    EXPECT_FALSE(path().open);
    path().onApply = nullptr;
    network_->unreadable = false;
    EXPECT_TRUE(supervisor_->onReadable());
    EXPECT_TRUE(path().open);
    path().onApply = [this] {
        network_->next = [](auto&) { return introspect::Changes{.behind = true, .links = {}}; };
    };
    path().failing.clear();
    announce([](auto&) {});
    path().failing.emplace(portIndex, refusal(EINVAL));
    announce([](auto&) {});
    EXPECT_FALSE(path().open);
}

/// A station may have gone before the port that it was behind was opened.
TEST_F(Watching, StationsAreTakenInBeforePortsAreOpened) {
    wanted_.config.kernel.fdb = "mirror";
    start();
    ASSERT_TRUE(path().mirrors);
    const auto before = path().stationsWritten;
    unsigned then = before;
    path().onApply = [&] { then = path().stationsWritten; };
    announce([](auto& model) { model.links.at(portIndex).mtu++; });
    EXPECT_GT(then, before);
    EXPECT_GT(path().stationsWritten, then) << "and those that were announced meanwhile";
}

TEST_F(Watching, IsLookedForWhatNobodyAnnounces) {
    start();
    EXPECT_LT(supervisor_->interval(), std::chrono::seconds(1));
    ASSERT_TRUE(port().watched);
    const auto before = *port().watched;
    kernel_->tcxIngress.insert(portIndex);
    wait(seconds(1));
    EXPECT_NE(port().watched->ingressReason, before.ingressReason);
    EXPECT_EQ(told().at(0)["event"], "frames");
}

TEST_F(Watching, RingsThatNobodyAnnouncesAreLookedFor) {
    start();
    const auto before = port().watched->ingressReason;
    EXPECT_NE(before, unsigned{TNA_REASON_BRIDGE_OPTIONS});
    kernel_->ringBridges = {bridgeIndex};
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, unsigned{TNA_REASON_BRIDGE_OPTIONS});
    kernel_->ringBridges.clear();
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, before);
    kernel_->ringsHidden = true;
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, unsigned{TNA_REASON_BRIDGE_OPTIONS}) << "there may be some";
}

TEST_F(Watching, BridgesThatBeginToWantAllFramesWithoutAWordAreLookedFor) {
    start();
    const auto before = port().watched->ingressReason;
    EXPECT_NE(before, unsigned{TNA_REASON_BRIDGE_PROMISC});
    kernel_->promiscuous = {bridgeIndex};
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, unsigned{TNA_REASON_BRIDGE_PROMISC});
    kernel_->promiscuous.clear();
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, before);
    kernel_->promiscuityHidden = true;
    wait(seconds(1));
    EXPECT_EQ(port().watched->ingressReason, unsigned{TNA_REASON_BRIDGE_PROMISC}) << "it may want them";
}

TEST_F(Watching, RingsAreNotLookedForWhereTheKernelHasNone) {
    kernel_->mrp = false;
    kernel_->ringsHidden = true;
    start();
    EXPECT_NE(port().watched->ingressReason, unsigned{TNA_REASON_BRIDGE_OPTIONS});
}

TEST_F(Watching, DriversThatDoNotTellAreKnownByName) {
    kernel_->silent = true;
    start();
    EXPECT_EQ(secondsWithPlans(20), std::vector<int>{});
    EXPECT_TRUE(supervisor_->observed().capabilities.devices.contains(portIndex));
}

} // namespace
} // namespace tna::test
