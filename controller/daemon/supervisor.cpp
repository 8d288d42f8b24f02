// SPDX-License-Identifier: Apache-2.0
#include "daemon/supervisor.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

Supervisor::Supervisor(std::unique_ptr<Kernel> kernel, std::unique_ptr<introspect::NetworkSource> source,
                       const Wanted& wanted, Reporter& reporter, Clock clock)
    : reporter_(reporter), clock_(std::move(clock)), kernel_(std::move(kernel)), source_(std::move(source)),
      path_(*kernel_, *source_, wanted, observed_, reporter), observer_(*source_, clock_()),
      planner_(*kernel_, *source_, wanted, observed_, path_, reporter, clock_) {}

Result<void> Supervisor::start(std::vector<UniqueFd> inherited) {
    auto started = path_.start(std::move(inherited), planner_.mayLearn());
    if (started)
        reconcile();
    return started;
}

void Supervisor::readAllAgain() {
    planner_.tryAllAgain();
    path_.inform(observer_.readAllAgain(path_.way(), clock_()));
}

Result<void> Supervisor::onReadable() {
    const auto since = clock_();
    const auto changes = source_->process();
    path_.inform(changes && !changes->behind);
    if (planner_.concerns(changes))
        planner_.reconcile(since);
    planner_.followRules(changes && changes->ruleSets, false);
    path_.way().follow();
    return changes ? Result<void>{} : std::unexpected(changes.error());
}

void Supervisor::onInterval() {
    const auto refreshed = source_->refreshSysctls();
    if (path_.followKernelModules(clock_())) {
        planner_.pathExchanged();
        reconcile();
    }
    const bool cut = observer_.recheck(plan(), path_.way(), clock_());
    const auto changes = source_->process();
    if (observed_.informed && !(refreshed && changes))
        spdlog::error("{}", (changes ? refreshed.error() : changes.error()).sentence());
    path_.inform(refreshed && changes && !changes->behind);
    const bool different = path_.way().look();
    const bool refused = planner_.followRefusals();
    const bool rested = planner_.followRests();
    if (selfCheck_.follow(dataPath(), network(), reporter_) || refused || rested ||
        planner_.concerns(changes) || different || cut || planner_.isDue())
        reconcile();
    planner_.followRules(changes && changes->ruleSets, true);
    path_.way().follow();
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
    planner_.reconcile(clock_());
    path_.way().follow();
}

} // namespace tna::daemon
