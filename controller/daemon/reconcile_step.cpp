// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconcile_step.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace tna::daemon {

Failures newFailures(const Failures& before, const Failures& now) {
    Failures fresh;
    std::ranges::copy_if(now, std::inserter(fresh, fresh.end()),
                         [&](const auto& item) { return !before.contains(item.first); });
    return fresh;
}

namespace {
/// What the kernel says of devices that have gone, and of what was attached to them.
bool maySayGone(const Error& error) {
    return error.number == EINVAL || error.number == ENODEV || error.number == ENOLINK;
}
} // namespace

Step stepAfter(const InPlace& before, assemble::Plan plan, Failures failures, const model::Network& network,
               const std::set<model::IfIndex>& attachedBefore, const std::set<model::IfIndex>& attachedNow) {
    Step step;
    std::ranges::set_difference(attachedBefore, attachedNow, std::inserter(step.lost, step.lost.end()));
    for (const auto& [ifindex, error] : newFailures(before.failures, failures))
        if (maySayGone(error))
            step.doubtful.insert(ifindex);
    step.now = {std::move(plan), std::move(failures), assemble::presumedIn(network)};
    step.forgetFlows = step.now.presumed != before.presumed;
    return step;
}

void dropGone(InPlace& inPlace, const std::set<model::IfIndex>& doubtful, const model::Network& network) {
    for (const auto ifindex : doubtful)
        if (network.link(ifindex) == nullptr) {
            inPlace.failures.erase(ifindex);
            inPlace.plan.ports.erase(ifindex);
        }
}

} // namespace tna::daemon
