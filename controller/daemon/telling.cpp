// SPDX-License-Identifier: Apache-2.0
// What is told about ports: to the log, and in one line.
#include "base/log_fields.hpp"
#include "daemon/controller.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// What has changed for a port that keeps its program.
void logWatched(const assemble::PortPlan& port, const assemble::WatchedPort& before) {
    const auto tell = [&](unsigned reason, unsigned old, const char* which) {
        if (reason == old)
            return;
        const bool again = reason == TNA_REASON_COUNT;
        const LogFields about{{"TNA_PORT", port.name},
                              {"TNA_REASON", again ? "" : deploy::reasonCode(reason)}};
        spdlog::info("{}: frames {} it {}", port.name, which,
                     again ? "may take the fast path again"
                           : fmt::format("are left to Linux: {}", deploy::reasonText(reason)));
    };
    tell(port.watched->ingressReason, before.ingressReason, "from");
    tell(port.watched->egressReason, before.egressReason, "to");
    tell(port.watched->tagReason, before.tagReason, "with a tag from");
}

void logPort(const assemble::PortPlan& port) {
    if (port.profile) {
        const LogFields about{
            {"TNA_PORT", port.name}, {"TNA_STATE", "accelerated"}, {"TNA_PROFILE", port.profile->name()}};
        spdlog::info("{}: accelerated, profile {}", port.name, port.profile->name());
        return;
    }
    const auto reason = port.reasons.empty() ? assemble::Reason{} : port.reasons.front();
    const LogFields about{{"TNA_PORT", port.name}, {"TNA_STATE", "linux"}, {"TNA_REASON", reason.code}};
    spdlog::info("{}: left to Linux: {}", port.name, reason.text);
}
} // namespace

void Controller::logChanges(const assemble::Plan& before) const {
    for (const auto& [ifindex, port] : plan_.ports) {
        const auto old = before.ports.find(ifindex);
        if (old != before.ports.end() && old->second == port)
            continue;
        const bool sameProgram = old != before.ports.end() && old->second.profile == port.profile &&
                                 old->second.reasons == port.reasons;
        if (sameProgram && port.watched && old->second.watched)
            logWatched(port, *old->second.watched);
        else
            logPort(port);
    }
}

std::string Controller::summary() {
    const std::lock_guard lock{mutex_};
    const auto accelerated = std::ranges::count_if(plan_.ports, [&](const auto& item) {
        return item.second.profile && !failures_.contains(item.first);
    });
    return fmt::format("{} of {} ports accelerated", accelerated, plan_.ports.size());
}

} // namespace tna::daemon
