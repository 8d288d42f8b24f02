// SPDX-License-Identifier: Apache-2.0
#include "daemon/supervisor.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// What goes on changing is left to the next interval.
constexpr int mostRounds = 8;
} // namespace

Supervisor::Supervisor(std::unique_ptr<Kernel> kernel, std::unique_ptr<introspect::NetworkSource> source,
                       Wanted& wanted, Reporter& reporter, Clock clock)
    : wanted_(wanted), reporter_(reporter), clock_(std::move(clock)), kernel_(std::move(kernel)),
      source_(std::move(source)), path_(*kernel_, *source_, wanted, observed_, reporter),
      observer_(*source_, clock_()), reconciler_(*source_, reporter), restingPorts_(clock_()),
      connections_(*kernel_) {}

Result<void> Supervisor::start(std::vector<UniqueFd> inherited) {
    auto started = path_.start(std::move(inherited), mayLearn());
    if (started)
        reconcile();
    return started;
}

void Supervisor::readAllAgain() {
    refusedPorts_.forget();
    restingPorts_.forget();
    inform(observer_.readAllAgain(path_.way(), clock_()));
}

assemble::Wishes Supervisor::wishes() const {
    auto wishes = wishesFor(network(), wanted_, observed_, refusedPorts_, dataPath());
    const bool may = observed_.capabilities.way == capability::Way::inPlace && mayLearn();
    wishes.resting = restingPorts_.reasons();
    wishes.learning = may && connections_.possible(network());
    wishes.learningOfBridges = may && connections_.possibleForBridges(network());
    return wishes;
}

bool Supervisor::mayLearn() const {
    return wanted_.config.limits.connections > 0 &&
           (connections_.possible(network()) || connections_.possibleForBridges(network()));
}

bool Supervisor::isConcern(const Result<introspect::Changes>& changes) const {
    return changes && reconciler_.concerns(*changes, manyRoutes(wanted_.config));
}

/// What is not known as a whole closes the fast path before anything is written because of it.
void Supervisor::inform(bool informed) {
    observed_.informed = informed;
    if (!informed)
        dataPath().fdb().open(false);
}

Result<void> Supervisor::onReadable() {
    const auto since = clock_();
    const auto changes = source_->process();
    inform(changes && !changes->behind);
    if (isConcern(changes))
        reconcile(since);
    followRules(changes && changes->ruleSets, false);
    path_.way().follow();
    return changes ? Result<void>{} : std::unexpected(changes.error());
}

void Supervisor::onInterval() {
    const auto refreshed = source_->refreshSysctls();
    if (path_.followKernelModules(clock_())) {
        exchanged();
        reconcile();
    }
    const bool cut = observer_.recheck(plan(), path_.way(), clock_());
    const auto changes = source_->process();
    if (observed_.informed && !(refreshed && changes))
        spdlog::error("{}", (changes ? refreshed.error() : changes.error()).sentence());
    inform(refreshed && changes && !changes->behind);
    const bool different = path_.way().look();
    const bool refused = refusedPorts_.follow(network(), reporter_);
    const bool rested = followRests();
    if (selfCheck_.follow(dataPath(), network(), reporter_) || refused || rested || isConcern(changes) ||
        different || cut || again_ ||
        reconciler_.isRetryDue(clock_(), way().needsDrivers() && !observed_.capabilities.driversTell))
        reconcile();
    followRules(changes && changes->ruleSets, true);
    path_.way().follow();
}

bool Supervisor::followRests() {
    return wanted_.config.ports.rest && restingPorts_.follow(dataPath(), plan(), clock_());
}

/// What has looked at the fast path before looks at nothing any more.
void Supervisor::exchanged() {
    refusedPorts_.startOver();
    connections_.startOver();
}

void Supervisor::followRules(bool changed, bool atInterval) {
    if (changed)
        connections_.rulesChanged(network());
    connections_.tell(network(), atInterval);
}

Result<void> Supervisor::useModulesOrUndo(const std::function<void()>& undo) {
    const auto before = failures();
    useModules();
    reconcile();
    const auto failed = newFailures(before, failures());
    if (failed.empty())
        return {};
    Error refused = failed.begin()->second;
    undo();
    useModules();
    reconcile();
    return std::unexpected(std::move(refused));
}

void Supervisor::reconcile() {
    reconcile(clock_());
    path_.way().follow();
}

/// Makes the network as it was read what the fast path is for; again, where it was not any more.
void Supervisor::reconcile(Time since) {
    again_ = true;
    for (int round = 0; again_ && round < mostRounds; round++)
        again_ = reconcileOnce(since);
}

/// False: something has changed by it, and another plan is needed.
bool Supervisor::followConnections(const assemble::Plan& plan) {
    if ((!plan.wide.flowPlaces.empty() || plan.wide.bridgeRules) && path_.makeRoom(clock_())) {
        exchanged();
        return false;
    }
    return !connections_.follow(dataPath(), network(),
                                path_.hasRoom() ? plan.wide : assemble::NamespacePlan{});
}

bool Supervisor::reconcileOnce(Time since) {
    if (const auto wrong = path_.way().prepare(clock_()); wrong && path_.fallBack(*wrong)) {
        exchanged();
        (void)path_.way().prepare(clock_());
    }
    (void)path_.way().readFeatures();
    auto wanted = wishes();
    auto plan = assemble::assemble(network(), observed_.capabilities, wanted);
    if (!followConnections(plan))
        return true;
    if (refusedPorts_.watch(dataPath(), plan, network())) {
        wanted = wishes();
        plan = assemble::assemble(network(), observed_.capabilities, wanted);
    }
    path_.way().takeIn();
    const auto outcome = reconciler_.reconcile(dataPath(), std::move(plan), wanted, since);
    if (!outcome.informed)
        inform(false);
    return outcome.again;
}

} // namespace tna::daemon
