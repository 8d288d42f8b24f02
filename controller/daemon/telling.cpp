// SPDX-License-Identifier: Apache-2.0
// What is told about ports: to the log, to those who follow events, and in one line.
#include "base/log_fields.hpp"
#include "daemon/controller.hpp"
#include "daemon/views.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
struct Direction {
    const char* word;
    unsigned assemble::WatchedPort::* reason;
};
constexpr Direction directions[] = {{"from", &assemble::WatchedPort::ingressReason},
                                    {"to", &assemble::WatchedPort::egressReason},
                                    {"with a tag from", &assemble::WatchedPort::tagReason}};

/// What has changed for a port that keeps its program: of which frames, and why they are left to Linux now;
/// TNA_REASON_COUNT: they are not.
std::vector<std::pair<const char*, unsigned>> watchedChanges(const assemble::WatchedPort& port,
                                                             const assemble::WatchedPort& before) {
    std::vector<std::pair<const char*, unsigned>> changes;
    for (const auto& direction : directions)
        if (port.*direction.reason != before.*direction.reason)
            changes.emplace_back(direction.word, port.*direction.reason);
    return changes;
}

void logWatched(const assemble::PortPlan& port, const assemble::WatchedPort& before) {
    for (const auto& [word, reason] : watchedChanges(*port.watched, before)) {
        const bool again = reason == TNA_REASON_COUNT;
        const LogFields about{{"TNA_PORT", port.name},
                              {"TNA_REASON", again ? "" : deploy::reasonCode(reason)}};
        spdlog::info("{}: frames {} it {}", port.name, word,
                     again ? "may take the fast path again"
                           : fmt::format("are left to Linux: {}", deploy::reasonText(reason)));
    }
}

std::vector<nlohmann::json> watchedEvents(const assemble::PortPlan& port,
                                          const assemble::WatchedPort& before) {
    std::vector<nlohmann::json> events;
    for (const auto& [word, reason] : watchedChanges(*port.watched, before)) {
        const bool again = reason == TNA_REASON_COUNT;
        events.push_back(
            {{"event", "frames"}, {"port", port.name}, {"which", word}, {"left_to_linux", !again}});
        if (!again)
            events.back()["reason"] = {{"code", deploy::reasonCode(reason)},
                                       {"text", deploy::reasonText(reason)}};
    }
    return events;
}

/// What is worth an event when it is different.
nlohmann::json portEvent(const assemble::PortPlan& port, const std::map<model::IfIndex, Error>& failures) {
    const auto failure = failures.find(port.ifindex);
    const bool failed = failure != failures.end();
    nlohmann::json reasons = nlohmann::json::array();
    if (failed)
        reasons.push_back({{"code", "failed"}, {"text", failure->second.sentence()}});
    for (const auto& reason : port.reasons)
        reasons.push_back({{"code", reason.code}, {"text", reason.text}});
    return {{"event", "port"},
            {"port", port.name},
            {"state", stateOf(port, failed)},
            {"profile", port.profile && !failed ? nlohmann::json(port.profile->name()) : nlohmann::json()},
            {"reasons", reasons}};
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

void Controller::tellChanges(const assemble::Plan& before, const Failures& failedBefore) {
    if (followers_.any())
        tellPorts(before, failedBefore);
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

void Controller::tellPorts(const assemble::Plan& before, const Failures& failedBefore) {
    for (const auto& [ifindex, port] : plan_.ports) {
        auto event = portEvent(port, failures_);
        const auto old = before.ports.find(ifindex);
        if (old == before.ports.end() || portEvent(old->second, failedBefore) != event)
            followers_.tell(event);
        if (port.watched && old != before.ports.end() && old->second.watched)
            for (const auto& left : watchedEvents(port, *old->second.watched))
                followers_.tell(left);
    }
    for (const auto& [ifindex, port] : before.ports)
        if (!plan_.ports.contains(ifindex))
            followers_.tell({{"event", "port"}, {"port", port.name}, {"state", "gone"}});
}

std::string Controller::summary() {
    const std::lock_guard lock{mutex_};
    const auto accelerated = std::ranges::count_if(plan_.ports, [&](const auto& item) {
        return item.second.profile && !failures_.contains(item.first);
    });
    return fmt::format("{} of {} ports accelerated", accelerated, plan_.ports.size());
}

} // namespace tna::daemon
