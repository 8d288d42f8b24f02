// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconcile_step.hpp"

#include "assemble/hooks.hpp"

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

Step stepAfter(const InPlace& before, assemble::Plan plan, deploy::Applied applied,
               const model::Network& network, const std::set<model::IfIndex>& attachedBefore,
               const std::set<model::IfIndex>& attachedNow) {
    Step step;
    std::ranges::set_difference(attachedBefore, attachedNow, std::inserter(step.lost, step.lost.end()));
    for (const auto& [ifindex, error] : newFailures(before.failures, applied.failures))
        if (maySayGone(error))
            step.doubtful.insert(ifindex);
    for (const auto& [ifindex, error] : applied.onlyAtXdp)
        assemble::leaveAtXdpOnly(plan.ports.at(ifindex), error.sentence());
    step.now = {std::move(plan), std::move(applied.failures), std::move(applied.onlyAtXdp),
                assemble::presumedIn(network)};
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
