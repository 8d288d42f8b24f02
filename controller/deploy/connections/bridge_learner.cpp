// SPDX-License-Identifier: Apache-2.0
#include "deploy/connections/bridge_learner.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <tna/bridge_rules.h>

#include "learn_bridge.skel.h"
#include "learn_bridge_typed.skel.h"

namespace tna::deploy {

namespace {
constexpr const char* learningOfBridges = "cannot learn from what rules of bridges let pass";

void publish(tna_judged_bridge_rules& rules, std::uint32_t generation, const assemble::BridgeRules& judged) {
    __atomic_store_n(&rules.generation, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&rules.serial, rules.serial + 1, __ATOMIC_SEQ_CST); // whoever reads meanwhile sees it
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rules.steady = (judged.tcp ? TNA_STEADY_TCP : 0U) | (judged.udp ? TNA_STEADY_UDP : 0U) |
                   (judged.calls ? TNA_BRIDGE_CALLS : 0U);
    for (std::size_t place = 0; place < TNA_RULE_HOOKS; ++place) {
        rules.functions[place] = judged.functions.at(place).number;
        rules.lists[place] = judged.functions.at(place).list;
    }
    rules.missed = 0;
    if (judged.tcp || judged.udp)
        __atomic_store_n(&rules.generation, generation, __ATOMIC_SEQ_CST);
}
} // namespace

Result<std::unique_ptr<BridgeRuleLearner>> BridgeLearner::attach(const PipelineObject& pipeline, Casts casts,
                                                                 std::uint64_t net,
                                                                 std::uint64_t brNetfilter) {
    return casts == Casts::untyped ? attachOf<::learn_bridge>(pipeline, net, brNetfilter)
                                   : attachOf<::learn_bridge_typed>(pipeline, net, brNetfilter);
}

template <typename Generated>
Result<std::unique_ptr<BridgeRuleLearner>>
BridgeLearner::attachOf(const PipelineObject& pipeline, std::uint64_t net, std::uint64_t brNetfilter) {
    auto* opened = Generated::open();
    if (opened == nullptr)
        return failErrno(errno, learningOfBridges);
    std::unique_ptr<BridgeLearner> learner{new BridgeLearner(
        {opened, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }})};
    opened->rodata->own_net = net;
    opened->rodata->own_brnf = brNetfilter;
    if (bpf_map__reuse_fd(opened->maps.data_bridge_rules, pipeline.cache("bridge_rules")) != 0 ||
        bpf_map__reuse_fd(opened->maps.bridge_lessons, pipeline.map("bridge_lessons")) != 0 ||
        Generated::load(opened) != 0)
        return failErrno(errno, learningOfBridges);
    learner->rules_ = &opened->data_bridge_rules->bridge_judgement;
    learner->judge({});
    if (Generated::attach(opened) != 0)
        return failErrno(errno, learningOfBridges);
    return learner;
}

BridgeLearner::~BridgeLearner() {
    if (rules_ != nullptr)
        judge({});
}

/// What is as it was stays, and with it what was learnt; unless packets have met other functions.
void BridgeLearner::judge(const assemble::RuleJudgement& judgement) {
    if (judged_ && judged_->generation == judgement.generation && judged_->bridge == judgement.bridge &&
        !missed())
        return;
    publish(*rules_, judgement.generation, judgement.bridge);
    judged_ = judgement;
}

bool BridgeLearner::missed() const {
    return __atomic_load_n(&rules_->missed, __ATOMIC_RELAXED) != 0;
}

} // namespace tna::deploy
