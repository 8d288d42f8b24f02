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
} // namespace

/// Once for each outcome, not for each change of the rules.
void Connections::announce(const assemble::RuleJudgement& judged) const {
    if (judged.generation != 0 && judgement_.generation != 0 &&
        sameOutcome(judged.obstacles, judgement_.obstacles))
        return;
    if (judged.obstacles.empty())
        spdlog::info("the rules are steady: flows that Linux lets pass are learnt");
    else
        spdlog::info("packets that pass rules are left to Linux: {}{}", judged.obstacles.front().reason,
                     judged.obstacles.size() > 1 ? ", and more" : "");
}

bool Connections::possible(const model::Network& network) const {
    return haveRules(network) && !impossible_;
}

bool Connections::follow(const deploy::DataPath& dataPath, const model::Network& network,
                         const assemble::FlowPlaces& places) {
    if (!possible(network)) {
        startOver();
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
    auto attached = dataPath.learnConnections();
    if (!attached) {
        impossible_ = attached.error().sentence();
        spdlog::warn("{}; packets that pass rules are left to Linux", *impossible_);
        return false;
    }
    learner_ = std::move(*attached);
    keeper_ = std::make_unique<StreamKeeper>(kernel_, *learner_);
    if (!watch_)
        watch_ = std::make_unique<RuleWatch>(kernel_);
    rulesChanged(network);
    return true;
}

void Connections::startOver() {
    if (watch_)
        watch_->forget();
    keeper_.reset();
    learner_.reset();
    judgement_ = {};
}

void Connections::rulesChanged(const model::Network& network) {
    if (!learner_)
        return;
    devices_ = specialDevicesOf(network);
    watch_->ask({network.netfilter.legacyTables, learner_->programs(), devices_,
                 [learner = learner_.get()](const auto& judgement) { learner->judge(judgement); }});
}

void Connections::tell(const model::Network& network, bool atInterval) {
    if (!learner_)
        return;
    if (auto judged = watch_->take()) {
        announce(*judged);
        judgement_ = std::move(*judged);
    }
    if ((atInterval && (judgement_.generation == 0 || learner_->missed())) || othersMatter(network))
        rulesChanged(network);
}

/// The devices are not those that the rules were judged for, which asked for them.
bool Connections::othersMatter(const model::Network& network) const {
    if (loopbackName(network) != devices_.loopback.name)
        return true;
    return (judgement_.ipv4.asksDevices || judgement_.ipv6.asksDevices) &&
           specialDevicesOf(network).others != devices_.others;
}

} // namespace tna::daemon
