// SPDX-License-Identifier: Apache-2.0
#include "daemon/planner.hpp"

namespace tna::daemon {

namespace {
/// What goes on changing is left to the next interval.
constexpr int mostRounds = 8;
} // namespace

assemble::Wishes Planner::wishes() const {
    auto wishes = wishesFor(network(), wanted_, observed_, refusedPorts_, path_.dataPath());
    const bool may = observed_.capabilities.way == capability::Way::inPlace && mayLearn();
    wishes.resting = restingPorts_.reasons(network());
    wishes.learning = may && connections_.possible(network());
    wishes.learningOfBridges = may && connections_.possibleForBridges(network());
    return wishes;
}

bool Planner::mayLearn() const {
    return wanted_.config.limits.connections > 0 &&
           (connections_.possible(network()) || connections_.possibleForBridges(network()));
}

bool Planner::concerns(const Result<introspect::Changes>& changes) const {
    return changes && reconciler_.concerns(*changes, manyRoutes(wanted_.config));
}

bool Planner::isDue() {
    return again_ || reconciler_.isRetryDue(clock_(), path_.way().needsDrivers() &&
                                                          !observed_.capabilities.driversTell);
}

void Planner::followRules(bool changed, bool atInterval) {
    if (changed)
        connections_.rulesChanged(network());
    connections_.tell(network(), atInterval);
}

bool Planner::followRefusals() {
    return refusedPorts_.follow(network(), reporter_);
}

bool Planner::followRests() {
    return wanted_.config.ports.rest && restingPorts_.follow(path_.dataPath(), plan(), clock_());
}

void Planner::tryAllAgain() {
    refusedPorts_.forget();
    restingPorts_.forget();
}

void Planner::pathExchanged() {
    refusedPorts_.startOver();
    connections_.startOver();
}

void Planner::reconcile(Time since) {
    again_ = true;
    for (int round = 0; again_ && round < mostRounds; round++)
        again_ = reconcileOnce(since);
}

/// False: something has changed by it, and another plan is needed.
bool Planner::followConnections(const assemble::Plan& plan) {
    if ((!plan.wide.flowPlaces.empty() || plan.wide.bridgeRules) && path_.makeRoom(clock_())) {
        pathExchanged();
        return false;
    }
    return !connections_.follow(path_.dataPath(), network(),
                                path_.hasRoom() ? plan.wide : assemble::NamespacePlan{});
}

bool Planner::reconcileOnce(Time since) {
    if (const auto wrong = path_.way().prepare(clock_()); wrong && path_.fallBack(*wrong)) {
        pathExchanged();
        (void)path_.way().prepare(clock_());
    }
    (void)path_.way().readFeatures();
    auto wanted = wishes();
    auto plan = assemble::assemble(network(), observed_.capabilities, wanted);
    if (!followConnections(plan))
        return true;
    if (refusedPorts_.watch(path_.dataPath(), plan, network())) {
        wanted = wishes();
        plan = assemble::assemble(network(), observed_.capabilities, wanted);
    }
    path_.way().takeIn();
    const auto outcome = reconciler_.reconcile(path_.dataPath(), std::move(plan), wanted, since);
    if (!outcome.informed)
        path_.inform(false);
    return outcome.again;
}

} // namespace tna::daemon
