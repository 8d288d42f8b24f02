// SPDX-License-Identifier: Apache-2.0
#include "daemon/connections.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <tuple>

namespace tna::daemon {

namespace {
/// Whether routed packets pass rules of nf_tables.
bool haveRules(const model::Network& network) {
    return std::ranges::any_of(network.netfilter.hooks, [](const model::NetfilterHook& hook) {
        return hook.family == "ip" || hook.family == "ip6" || hook.family == "inet";
    });
}

bool haveRulesOfBridges(const model::Network& network) {
    return std::ranges::any_of(network.netfilter.hooks,
                               [](const model::NetfilterHook& hook) { return hook.family == "bridge"; });
}

std::string loopbackName(const model::Network& network) {
    const assemble::rules::RuleDevice usual = assemble::SpecialDevices{}.loopback;
    const auto* link = network.link(usual.ifindex);
    return link != nullptr ? link->name : usual.name;
}

assemble::SpecialDevices specialDevicesOf(const model::Network& network) {
    assemble::SpecialDevices special;
    special.loopback.name = loopbackName(network);
    for (const auto& [ifindex, link] : network.links)
        if (ifindex != special.loopback.ifindex && !link.bridgePort)
            special.others.push_back({.name = link.name, .ifindex = ifindex, .group = link.group});
    // There may not be room for all: bridges first.
    std::ranges::stable_partition(special.others, [&](const assemble::rules::RuleDevice& device) {
        return network.links.at(device.ifindex).bridge.has_value();
    });
    return special;
}

/// Another reason may be the same outcome: it names devices.
bool sameOutcome(const std::vector<assemble::RuleObstacle>& these,
                 const std::vector<assemble::RuleObstacle>& those) {
    const auto place = [](const assemble::RuleObstacle& one) {
        return std::tie(one.family, one.table, one.chain, one.handle, one.hint, one.tcp, one.udp);
    };
    return std::ranges::equal(these, those, {}, place, place);
}

/// Once for each outcome, not for each change of the rules.
void announce(const assemble::RuleJudgement& judged, const assemble::RuleJudgement& before, bool learning,
              bool learningOfBridges) {
    const bool told = judged.generation != 0 && before.generation != 0;
    if (learning && !(told && sameOutcome(judged.obstacles, before.obstacles))) {
        if (judged.obstacles.empty())
            spdlog::info("the rules are steady: flows that Linux lets pass are learnt");
        else
            spdlog::info("packets that pass rules are left to Linux: {}{}", judged.obstacles.front().reason,
                         judged.obstacles.size() > 1 ? ", and more" : "");
    }
    const auto& ofBridges = judged.bridge.obstacles;
    if (learningOfBridges && !(told && sameOutcome(ofBridges, before.bridge.obstacles))) {
        if (ofBridges.empty())
            spdlog::info("the rules of bridges (family bridge) are steady: flows that Linux lets pass are "
                         "learnt");
        else
            spdlog::info("packets that pass rules of bridges (family bridge) are left to Linux: {}{}",
                         ofBridges.front().reason, ofBridges.size() > 1 ? ", and more" : "");
    }
}

/// The devices are not those that the rules were judged for, which asked for them.
bool othersMatter(const assemble::RuleJudgement& judgement, const assemble::SpecialDevices& devices,
                  const model::Network& network) {
    if (loopbackName(network) != devices.loopback.name)
        return true;
    return (judgement.ipv4.asksDevices || judgement.ipv6.asksDevices) &&
           specialDevicesOf(network).others != devices.others;
}
} // namespace

bool Connections::possible(const model::Network& network) const {
    return haveRules(network) && !impossible_;
}

bool Connections::possibleForBridges(const model::Network& network) const {
    return haveRulesOfBridges(network) && !impossibleForBridges_;
}

bool Connections::follow(const deploy::DataPath& dataPath, const model::Network& network,
                         const assemble::NamespacePlan& plan) {
    const bool connections = followConnections(dataPath, network, plan.flowPlaces);
    const bool bridges = followBridges(dataPath, network, plan.bridgeRules);
    return connections || bridges;
}

bool Connections::followConnections(const deploy::DataPath& dataPath, const model::Network& network,
                                    const assemble::FlowPlaces& places) {
    if (!possible(network)) {
        end(network);
        return false;
    }
    if (!learning() && places.empty())
        return false;
    if (!learning() && !begin(dataPath, network))
        return true;
    learner_->learnBetween(places);
    return false;
}

bool Connections::begin(const deploy::DataPath& dataPath, const model::Network& network) {
    auto attached = dataPath.ruleLearning().ofConnections();
    if (!attached) {
        impossible_ = attached.error().sentence();
        spdlog::warn("{}; packets that pass rules are left to Linux", *impossible_);
        return false;
    }
    learner_ = std::move(*attached);
    keeper_ = std::make_unique<StreamKeeper>(kernel_, *learner_);
    watchRules(network);
    return true;
}

bool Connections::followBridges(const deploy::DataPath& dataPath, const model::Network& network,
                                bool wanted) {
    if (!possibleForBridges(network)) {
        endForBridges(network);
        return false;
    }
    if (!wanted || learningOfBridges())
        return false;
    auto attached = dataPath.ruleLearning().ofBridges();
    if (!attached) {
        impossibleForBridges_ = attached.error().sentence();
        spdlog::warn("{}; packets that pass those are left to Linux", *impossibleForBridges_);
        return true;
    }
    bridgeLearner_ = std::move(*attached);
    watchRules(network);
    return false;
}

void Connections::watchRules(const model::Network& network) {
    if (!watch_)
        watch_ = std::make_unique<RuleWatch>(kernel_);
    rulesChanged(network);
}

/// What is being judged is for those who learn, and nobody else.
void Connections::end(const model::Network& network) {
    if (!learner_)
        return;
    watch_->forget();
    keeper_.reset();
    learner_.reset();
    judgement_ = {};
    rulesChanged(network);
}

void Connections::endForBridges(const model::Network& network) {
    if (!bridgeLearner_)
        return;
    watch_->forget();
    bridgeLearner_.reset();
    judgement_.bridge = {};
    rulesChanged(network);
}

void Connections::startOver() {
    if (watch_)
        watch_->forget();
    keeper_.reset();
    learner_.reset();
    bridgeLearner_.reset();
    judgement_ = {};
}

void Connections::rulesChanged(const model::Network& network) {
    if (!learner_ && !bridgeLearner_)
        return;
    devices_ = specialDevicesOf(network);
    watch_->ask({network.netfilter.legacyTables, programs(), devices_,
                 [learner = learner_.get(), bridges = bridgeLearner_.get()](const auto& judgement) {
                     if (learner != nullptr)
                         learner->judge(judgement);
                     if (bridges != nullptr)
                         bridges->judge(judgement);
                 }});
}

bool Connections::missed() const {
    return (learner_ && learner_->missed()) || (bridgeLearner_ && bridgeLearner_->missed());
}

void Connections::tell(const model::Network& network, bool atInterval) {
    if (!learner_ && !bridgeLearner_)
        return;
    if (auto judged = watch_->take()) {
        announce(*judged, judgement_, learning(), learningOfBridges());
        judgement_ = std::move(*judged);
    }
    if ((atInterval && (judgement_.generation == 0 || missed())) ||
        othersMatter(judgement_, devices_, network))
        rulesChanged(network);
}

} // namespace tna::daemon
