// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconciler.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
std::set<model::IfIndex> stillAttached(const deploy::DataPath& dataPath,
                                       const std::set<model::IfIndex>& before) {
    std::set<model::IfIndex> now;
    for (const auto ifindex : before)
        if (dataPath.attached(ifindex))
            now.insert(ifindex);
    return now;
}

bool concern(const introspect::Changes& changes, const model::Network& network,
             std::optional<unsigned> manyRoutes, const assemble::Plan& plan) {
    return changes.any ||
           (changes.counts && assemble::hasManyRoutes(network, manyRoutes) != plan.wide.manyRoutes);
}
} // namespace

Reconciler::Outcome Reconciler::reconcile(deploy::DataPath& dataPath, assemble::Plan plan,
                                          const assemble::Wishes& wishes, Time since) {
    auto applied = dataPath.apply(plan, source_.network());
    const auto swapped = applied.swapped;
    auto step = stepAfter(inPlace_, std::move(plan), std::move(applied), source_.network(), wishes.attached,
                          stillAttached(dataPath, wishes.attached));
    for (const auto ifindex : step.lost)
        source_.suspect(ifindex);
    if (step.forgetFlows)
        dataPath.forgetFlows();
    reporter_.swapped(swapped, since);
    Outcome outcome;
    if (!step.doubtful.empty()) {
        for (const auto ifindex : step.doubtful)
            source_.suspect(ifindex);
        const auto changes = source_.process();
        if (!changes)
            spdlog::error("{}", changes.error().sentence());
        outcome.informed = changes && !changes->behind;
        outcome.again = changes && concern(*changes, source_.network(), wishes.manyRoutes, step.now.plan);
        dropGone(step.now, step.doubtful, source_.network());
    }
    const auto before = std::exchange(inPlace_, std::move(step.now));
    reporter_.changed(before, inPlace_);
    return outcome;
}

bool Reconciler::concerns(const introspect::Changes& changes, std::optional<unsigned> manyRoutes) const {
    return concern(changes, source_.network(), manyRoutes, inPlace_.plan);
}

bool Reconciler::isRetryDue(Time now, bool more) {
    if (inPlace_.failures.empty() && inPlace_.onlyAtXdp.empty() && !more) {
        retry_.reset(now);
        return false;
    }
    return retry_.isDue(now);
}

} // namespace tna::daemon
