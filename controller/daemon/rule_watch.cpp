// SPDX-License-Identifier: Apache-2.0
#include "daemon/rule_watch.hpp"

#include <utility>

namespace tna::daemon {

RuleWatch::RuleWatch(Kernel& kernel)
    : kernel_(kernel), thread_([this](const std::stop_token& stop) { run(stop); }) {}

RuleWatch::~RuleWatch() = default;

void RuleWatch::ask(Question question) {
    {
        const std::lock_guard lock{mutex_};
        publish_ = question.publish;
        question_ = std::move(question);
    }
    asked_.notify_one();
}

void RuleWatch::forget() {
    const std::lock_guard lock{mutex_};
    publish_ = nullptr;
    question_.reset();
    answer_.reset();
}

std::optional<assemble::RuleJudgement> RuleWatch::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(answer_, std::nullopt);
}

void RuleWatch::run(const std::stop_token& stop) {
    for (;;) {
        Question question;
        {
            std::unique_lock lock{mutex_};
            if (!asked_.wait(lock, stop, [this] { return question_.has_value(); }))
                return;
            question = *std::exchange(question_, std::nullopt);
        }
        auto judgement = judge(question);
        const std::lock_guard lock{mutex_};
        if (publish_) {
            publish_(judgement);
            answer_ = std::move(judgement);
        }
    }
}

/// Of what cannot be read nothing is known: then the generation is 0.
assemble::RuleJudgement RuleWatch::judge(const Question& question) {
    auto rules = kernel_.readRules();
    if (!rules) {
        assemble::RuleObstacle obstacle{.tcp = true, .udp = true};
        obstacle.reason = rules.error().sentence();
        return {.obstacles = {std::move(obstacle)}};
    }
    rules->set.legacyTables = question.legacyTables;
    return assemble::judgeForFlows(std::move(*rules), question.own, question.devices);
}

} // namespace tna::daemon
