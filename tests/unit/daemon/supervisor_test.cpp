// SPDX-License-Identifier: Apache-2.0
#include "supervisor_fixture.hpp"

#include <cerrno>
#include <spdlog/sinks/ostream_sink.h>

namespace tna::test {
namespace {

class Reconciling : public SupervisorTest {};

TEST_F(Reconciling, WhatCanBeAcceleratedIs) {
    ASSERT_TRUE(supervisor_->start({}));
    EXPECT_TRUE(accelerated());
    EXPECT_EQ(path().attached, (std::set{portIndex}));
    EXPECT_EQ(path().plan, supervisor_->plan());
    EXPECT_EQ(statesTold(), Strings{"accelerated"});
}

TEST_F(Reconciling, NothingIsDoneWhereNothingHasChanged) {
    start();
    EXPECT_EQ(secondsWithPlans(59), std::vector<int>{});
    EXPECT_EQ(told(), std::vector<nlohmann::json>{});
}

TEST_F(Reconciling, PortThatFailsIsToldOnceAndTriedEverMoreRarely) {
    start();
    path().failing.emplace(portIndex, refusal(EBUSY));
    announce([](auto&) {});
    EXPECT_EQ(statesTold(), Strings{"failed"});
    EXPECT_EQ(reporter_.events().failures, 1U);
    EXPECT_EQ(secondsWithPlans(20), (std::vector{1, 3, 7, 15}));
    EXPECT_EQ(statesTold(), Strings{});
    EXPECT_EQ(reporter_.events().failures, 1U);
    path().failing.clear();
    EXPECT_EQ(secondsWithPlans(40), std::vector{11});
    EXPECT_EQ(statesTold(), Strings{"accelerated"});
}

/// What is logged meanwhile.
class Log {
public:
    Log() : usual_(spdlog::default_logger()) {
        spdlog::set_default_logger(
            std::make_shared<spdlog::logger>("log", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_)));
    }
    ~Log() { spdlog::set_default_logger(usual_); }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    [[nodiscard]] std::string said() const { return said_.str(); }

private:
    std::ostringstream said_;
    std::shared_ptr<spdlog::logger> usual_;
};

/// What the log says last of a port is what it is.
TEST_F(Reconciling, LogSaysOfAPortThatFailsThatItIsLeftToLinux) {
    start();
    const Log log;
    path().failing.emplace(portIndex, refusal(EBUSY));
    announce([](auto& model) { model.links.at(portIndex).mtu++; });
    EXPECT_TRUE(log.said().contains(port().name + ": left to Linux: ")) << log.said();
    EXPECT_FALSE(log.said().contains("accelerated")) << log.said();
    path().failing.clear();
    EXPECT_EQ(secondsWithPlans(2), std::vector{1});
    EXPECT_TRUE(log.said().contains(port().name + ": accelerated")) << log.said();
}

/// A bridge has another address for each container with a lower one.
TEST_F(Reconciling, LogDoesNotRepeatWhatItHasSaidOfAPort) {
    auto& bridge = network_->model.links.at(bridgeIndex);
    bridge.flags |= model::link_flag::up;
    bridge.ip.forwarding4 = true;
    bridge.addresses = {{4, "192.0.2.1/24", "global"}};
    start();
    const auto before = reporter_.events().swaps;
    const Log log;
    announce([](auto& model) { model.links.at(bridgeIndex).mac.bytes[5]++; });
    EXPECT_EQ(reporter_.events().swaps, before + 1);
    EXPECT_EQ(log.said(), "");
    announce([](auto& model) { model.links.at(portIndex).name = "lan0"; });
    EXPECT_TRUE(log.said().contains("lan0: accelerated")) << log.said();
}

TEST_F(Reconciling, PortThatFailsAnewIsTriedSoon) {
    start();
    path().failing.emplace(portIndex, refusal(EBUSY));
    announce([](auto&) {});
    (void)secondsWithPlans(20);
    path().failing.clear();
    announce([](auto&) {});
    wait(seconds(1));
    path().failing.emplace(portIndex, refusal(EBUSY));
    announce([](auto&) {});
    EXPECT_EQ(reporter_.events().failures, 2U);
    EXPECT_EQ(secondsWithPlans(4), (std::vector{1, 3}));
}

TEST_F(Reconciling, PortThatHasGoneMeanwhileHasNotFailed) {
    start();
    for (const int number : {ENODEV, EINVAL}) {
        announce([](auto& model) { model.links.at(portIndex).mtu++; });
        path().failing.emplace(portIndex, refusal(number));
        const auto link = network_->model.links.at(portIndex);
        // The announcement comes after the kernel has refused it.
        path().onApply = [this] {
            if (network_->model.links.contains(portIndex))
                network_->next = [](model::Network& model) {
                    model.links.erase(portIndex);
                    return introspect::Changes{.any = true, .links = {}};
                };
        };
        announce([](auto&) {});
        EXPECT_TRUE(network_->suspects.contains(portIndex));
        EXPECT_FALSE(supervisor_->plan().ports.contains(portIndex));
        EXPECT_TRUE(supervisor_->failures().empty());
        EXPECT_EQ(reporter_.events().failures, 0U);
        EXPECT_EQ(statesTold(), Strings{"gone"});
        path().onApply = nullptr;
        path().failing.clear();
        announce([&](auto& model) { model.links.emplace(portIndex, link); });
        (void)told();
    }
}

TEST_F(Reconciling, PortThatIsStillThereHasFailed) {
    start();
    path().failing.emplace(portIndex, refusal(EINVAL));
    announce([](auto&) {});
    EXPECT_TRUE(network_->suspects.contains(portIndex));
    EXPECT_EQ(statesTold(), Strings{"failed"});
}

TEST_F(Reconciling, WhatGoesOnChangingIsLeftToTheNextInterval) {
    start();
    path().failing.emplace(portIndex, refusal(EINVAL));
    // Each time something else is different, and the port has not failed yet.
    unsigned rounds = 0;
    path().onApply = [&] {
        path().failing.clear();
        if (rounds++ % 2 == 0)
            path().failing.emplace(portIndex, refusal(EINVAL));
        network_->next = [](auto&) { return introspect::Changes{.any = true, .links = {}}; };
    };
    announce([](auto&) {});
    EXPECT_GT(rounds, 1U);
    EXPECT_LE(rounds, 8U);
}

TEST_F(Reconciling, ProgramThatIsGoneIsReasonToReadItsLink) {
    start();
    ASSERT_TRUE(network_->suspects.empty());
    wanted_.paused.all = true;
    supervisor_->reconcile();
    EXPECT_FALSE(path().attached.contains(portIndex));
    EXPECT_TRUE(network_->suspects.contains(portIndex));
}

TEST_F(Reconciling, AnotherProfileIsSwappedIn) {
    start();
    wanted_.config.ports.excludeKinds.clear();
    wanted_.config.ports.tcxKinds.clear();
    const auto before = reporter_.events().swaps;
    announce([](auto& model) { model.links.at(portIndex).kind = "veth"; });
    EXPECT_TRUE(port().profile->veth);
    EXPECT_EQ(reporter_.events().swaps, before + 1);
    EXPECT_EQ(told().at(0)["profile"], port().profile->name());
}

TEST_F(Reconciling, CountsMatterWhereTheyBecomeMany) {
    start();
    const auto plans = path().plans;
    const auto routes = [&](unsigned number) {
        announce([=](auto& model) { model.routes = {{4, 254, {{"unicast", number}}}}; },
                 {.counts = true, .links = {}});
    };
    routes(wanted_.config.limits.manyRoutes - 1);
    EXPECT_EQ(path().plans, plans);
    routes(wanted_.config.limits.manyRoutes);
    EXPECT_EQ(path().plans, plans + 1);
    EXPECT_TRUE(supervisor_->plan().wide.manyRoutes);
    routes(wanted_.config.limits.manyRoutes + 1);
    EXPECT_EQ(path().plans, plans + 1);
    routes(1);
    EXPECT_FALSE(supervisor_->plan().wide.manyRoutes);
}

TEST_F(Reconciling, CountsDoNotMatterWhereNoDestinationsAreRemembered) {
    wanted_.config.limits.destinations = 0;
    start();
    const auto plans = path().plans;
    announce([](auto& model) { model.routes = {{4, 254, {{"unicast", 1000000}}}}; },
             {.counts = true, .links = {}});
    EXPECT_EQ(path().plans, plans);
}

TEST_F(Reconciling, FlowsAreForgottenWhereWhatTheyPresumeHasChanged) {
    start();
    const auto before = path().forgotten;
    announce([](auto& model) { model.links.at(portIndex).mtu = 9000; });
    EXPECT_EQ(path().forgotten, before);
    announce([](auto& model) { model.links.at(bridgeIndex).bridge->ageingTime = 100; });
    EXPECT_EQ(path().forgotten, before + 1);
    announce([](auto& model) { model.links.at(portIndex).ip.ignoreRoutesWithLinkDown = true; });
    EXPECT_EQ(path().forgotten, before + 2);
    announce([](auto& model) { model.sysctls["net.ipv4.conf.all.ignore_routes_with_linkdown"] = "1"; });
    EXPECT_EQ(path().forgotten, before + 3);
    announce([](auto&) {});
    EXPECT_EQ(path().forgotten, before + 3);
}

TEST_F(Reconciling, DriversThatDoNotTellAreAskedAgain) {
    kernel_->silent = true;
    ASSERT_TRUE(supervisor_->start({}));
    EXPECT_FALSE(accelerated());
    kernel_->silent = false;
    wait(seconds(1));
    EXPECT_TRUE(accelerated());
}

class Pausing : public SupervisorTest {
protected:
    bool pause(const std::optional<std::string>& name, bool paused) {
        const bool done = daemon::pausePorts(wanted_.paused, supervisor_->plan(), name, paused);
        supervisor_->reconcile();
        return done;
    }
};

TEST_F(Pausing, PausedPortIsLinuxsUntilItIsResumed) {
    start();
    EXPECT_TRUE(pause("eth0", true));
    EXPECT_EQ(reason(), "paused");
    EXPECT_EQ(statesTold(), Strings{"paused"});
    EXPECT_TRUE(pause("eth0", false));
    EXPECT_TRUE(accelerated());
    EXPECT_EQ(statesTold(), Strings{"accelerated"});
}

TEST_F(Pausing, AllAreResumedWhereNoneIsNamed) {
    start();
    EXPECT_TRUE(pause("eth0", true));
    EXPECT_TRUE(pause(std::nullopt, true));
    EXPECT_TRUE(pause("eth0", false));
    EXPECT_EQ(reason(), "paused");
    EXPECT_TRUE(pause("eth0", true));
    EXPECT_TRUE(pause(std::nullopt, false));
    EXPECT_TRUE(accelerated());
}

TEST_F(Pausing, PortThatIsNoneCanBeResumedButNotPaused) {
    start();
    EXPECT_FALSE(pause("eth9", true));
    EXPECT_FALSE(pause("eth9", false));
    EXPECT_TRUE(pause("eth0", true));
    announce([](auto& model) { model.links.erase(portIndex); });
    EXPECT_TRUE(pause("eth0", false));
    EXPECT_TRUE(wanted_.paused.ports.empty());
}

class Checking : public SupervisorTest {};

TEST_F(Checking, ModuleThatIsWrongIsPausedAndToldOf) {
    start();
    path().mistrusted = {"bridge"};
    path().found = deploy::Disagreement{"bridge", portIndex, "a", "b", {portIndex, ""}, {}, "unknown"};
    wait(seconds(1));
    EXPECT_FALSE(accelerated());
    EXPECT_EQ(reporter_.events().selfChecksFailed, 1U);
    const auto events = told();
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events[0]["event"], "self-check");
    EXPECT_EQ(events[0]["fast_path"]["device"], "eth0");
    EXPECT_TRUE(events[0]["kernel"].is_null());
    wait(seconds(1));
    EXPECT_EQ(reporter_.events().selfChecksFailed, 1U);
    supervisor_->trustAgain();
    supervisor_->reconcile();
    EXPECT_TRUE(accelerated());
}

class CustomModule : public SupervisorTest {
protected:
    /// A module for ingress of all ports.
    static daemon::CustomModules::Module module(const std::string& identity) {
        daemon::CustomModules::Module module{identity, nullptr, {}};
        module.functions[TNA_HOOK_INGRESS] = true;
        return module;
    }
    [[nodiscard]] Strings placed() const { return port().profile->custom.at(TNA_HOOK_INGRESS); }
};

TEST_F(CustomModule, IsPutInPlace) {
    start();
    wanted_.modules.put("m", module("m#1"));
    EXPECT_TRUE(supervisor_->useModulesOrUndo([] { FAIL() << "nothing failed"; }));
    EXPECT_EQ(placed(), Strings{"m#1"});
    EXPECT_TRUE(path().modules.contains("m#1"));
}

TEST_F(CustomModule, ThatCannotBeInPlaceIsUndone) {
    start();
    wanted_.modules.put("m", module("m#1"));
    ASSERT_TRUE(supervisor_->useModulesOrUndo([] {}));
    path().onApply = [this] {
        path().failing.clear();
        if (path().modules.contains("m#2"))
            path().failing.emplace(portIndex, refusal(E2BIG));
    };
    auto before = wanted_.modules.put("m", module("m#2"));
    ASSERT_TRUE(before);
    const auto used = supervisor_->useModulesOrUndo([&] { wanted_.modules.put("m", std::move(*before)); });
    ASSERT_FALSE(used);
    EXPECT_EQ(used.error().number, E2BIG);
    EXPECT_TRUE(accelerated());
    EXPECT_EQ(placed(), Strings{"m#1"});
    EXPECT_EQ(path().modules.size(), 1U);
}

TEST_F(CustomModule, IsNotBlamedForAPortThatHadFailedBefore) {
    start();
    path().failing.emplace(portIndex, refusal(EBUSY));
    announce([](auto&) {});
    wanted_.modules.put("m", module("m#1"));
    EXPECT_TRUE(supervisor_->useModulesOrUndo([] { FAIL() << "it was not the module"; }));
}

} // namespace
} // namespace tna::test
