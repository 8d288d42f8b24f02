// SPDX-License-Identifier: Apache-2.0
#include "daemon/reporter.hpp"

#include "assemble/hooks.hpp"
#include "base/log_fields.hpp"
#include "daemon/self_check.hpp"
#include "daemon/views.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <string_view>
#include <tuple>

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
nlohmann::json portEvent(const assemble::PortPlan& port, const Failures& failures) {
    const auto failure = failures.find(port.ifindex);
    const bool failed = failure != failures.end();
    nlohmann::json reasons = nlohmann::json::array();
    if (failed)
        reasons.push_back({{"code", "failed"}, {"text", failure->second.sentence()}});
    for (const auto& reason : port.reasons)
        reasons.push_back({{"code", reason.code}, {"text", reason.text}});
    return {
        {"event", "port"},
        {"port", port.name},
        {"state", stateOf(port, failed)},
        {"profile", port.accelerated() && !failed ? nlohmann::json(port.profile->name()) : nlohmann::json()},
        {"reasons", reasons}};
}

void logPort(const assemble::PortPlan& port) {
    if (port.accelerated()) {
        const LogFields about{
            {"TNA_PORT", port.name}, {"TNA_STATE", "accelerated"}, {"TNA_PROFILE", port.profile->name()}};
        spdlog::info("{}: accelerated, profile {}", port.name, port.profile->name());
        return;
    }
    const auto reason = port.reasons.empty() ? assemble::Reason{} : port.reasons.front();
    const LogFields about{{"TNA_PORT", port.name}, {"TNA_STATE", "linux"}, {"TNA_REASON", reason.code}};
    spdlog::info("{}: left to Linux: {}", port.name, reason.text);
}

void logFailed(const assemble::PortPlan& port, const Error& error) {
    const LogFields about{{"TNA_PORT", port.name}, {"TNA_STATE", "failed"}};
    spdlog::info("{}: left to Linux: {}", port.name, error.sentence());
}

/// What the log says of a port, and where: its program is exchanged for much that is nothing to read about,
/// such as another address of its bridge, or rules. With many ports that would be many lines.
auto told(const assemble::PortPlan& port) {
    const bool fast = port.accelerated();
    return std::tuple{port.name, port.watched, fast ? port.profile->name() : std::string{},
                      std::string_view(fast ? assemble::nameOfHooks(port) : ""),
                      fast || port.reasons.empty() ? assemble::Reason{} : port.reasons.front()};
}

void logPorts(const InPlace& before, const InPlace& now) {
    for (const auto& [ifindex, port] : now.plan.ports) {
        const auto old = before.plan.ports.find(ifindex);
        const auto failure = now.failures.find(ifindex);
        const bool failed = failure != now.failures.end();
        const bool asBefore = failed == before.failures.contains(ifindex);
        if (old != before.plan.ports.end() && asBefore && told(old->second) == told(port))
            continue;
        const bool sameProgram = old != before.plan.ports.end() && old->second.profile == port.profile &&
                                 old->second.reasons == port.reasons && asBefore;
        if (failed)
            logFailed(port, failure->second);
        else if (sameProgram && port.watched && old->second.watched)
            logWatched(port, *old->second.watched);
        else
            logPort(port);
    }
}
} // namespace

void Reporter::swapped(unsigned profiles, std::chrono::steady_clock::time_point since) {
    events_.swaps += profiles;
    if (profiles == 0)
        return;
    const auto now = std::chrono::steady_clock::now();
    events_.lastSwapMicroseconds = std::chrono::duration_cast<std::chrono::microseconds>(now - since).count();
    events_.lastSwapAt = now.time_since_epoch() / std::chrono::nanoseconds(1);
}

void Reporter::warnOf(const Failures& failures, const assemble::Plan& plan) {
    for (const auto& [ifindex, error] : failures) {
        events_.failures++;
        const auto port = plan.ports.find(ifindex);
        const LogFields about{{"TNA_PORT", port == plan.ports.end() ? "" : port->second.name}};
        spdlog::warn("{}", error.sentence());
    }
}

void Reporter::changed(const InPlace& before, const InPlace& now) {
    warnOf(newFailures(before.failures, now.failures), now.plan);
    warnOf(newFailures(before.onlyAtXdp, now.onlyAtXdp), now.plan);
    if (followers_.any())
        tellPorts(before, now);
    logPorts(before, now);
}

void Reporter::tellPorts(const InPlace& before, const InPlace& now) {
    for (const auto& [ifindex, port] : now.plan.ports) {
        auto event = portEvent(port, now.failures);
        const auto old = before.plan.ports.find(ifindex);
        if (old == before.plan.ports.end() || portEvent(old->second, before.failures) != event)
            followers_.tell(event);
        if (port.watched && old != before.plan.ports.end() && old->second.watched)
            for (const auto& left : watchedEvents(port, *old->second.watched))
                followers_.tell(left);
    }
    for (const auto& [ifindex, port] : before.plan.ports)
        if (!now.plan.ports.contains(ifindex))
            followers_.tell({{"event", "port"}, {"port", port.name}, {"state", "gone"}});
}

void Reporter::selfCheckFailed(const deploy::Disagreement& found, const model::Network& network) {
    events_.selfChecksFailed++;
    const LogFields about{{"TNA_MODULE", found.module}, {"TNA_REASON", "self-check"}};
    spdlog::error("{}", disagreementSentence(found, network));
    auto event = disagreementDocument(found, network);
    event["event"] = "self-check";
    followers_.tell(event);
}

void Reporter::redirectsRefused(const std::string& port, const deploy::Refusal& refusal,
                                const assemble::Reason& reason) {
    const LogFields about{{"TNA_PORT", port}, {"TNA_REASON", reason.code}};
    spdlog::error("{}: {}; they are lost, and frames for it are left to Linux from now on; {}", port,
                  reason.text, reason.hint);
    followers_.tell({{"event", "refused"},
                     {"port", port},
                     {"frames", refusal.frames},
                     {"processor", refusal.cpu},
                     {"why", std::strerror(refusal.error)}});
}

void Reporter::fastPathExchanged(const std::string& why, const char* fdbWay) {
    followers_.tell({{"event", "fast-path"}, {"why", why}, {"fdb", fdbWay}});
}

void Reporter::configurationRead(const std::vector<std::string>& atNextStart) {
    for (const auto& setting : atNextStart)
        spdlog::warn("{} is taken in at the next start", setting);
    followers_.tell({{"event", "configuration"}, {"action", "read"}, {"at_next_start", atNextStart}});
}

void Reporter::configurationRefused(const Error& error) {
    spdlog::error("{}; the configuration stays as it was", error.sentence());
    followers_.tell({{"event", "configuration"}, {"action", "refused"}, {"why", error.sentence()}});
}

void Reporter::paused(const std::optional<std::string>& port, bool paused) {
    followers_.tell(
        {{"event", paused ? "pause" : "resume"}, {"port", port ? nlohmann::json(*port) : nlohmann::json()}});
}

void Reporter::moduleChanged(const std::string& name, const char* action) {
    const LogFields about{{"TNA_MODULE", name}};
    spdlog::info("custom module {}: {}", name, action);
    followers_.tell({{"event", "module"}, {"module", name}, {"action", action}});
}

void Reporter::moduleRefused(const std::string& name, const Error& error) {
    const LogFields about{{"TNA_MODULE", name}};
    spdlog::error("custom module {}: {}", name, error.sentence());
    followers_.tell(
        {{"event", "module"}, {"module", name}, {"action", "refused"}, {"why", error.sentence()}});
}

void Reporter::functionChanged(const std::string& name, const char* action) {
    const LogFields about{{"TNA_FUNCTION", name}};
    spdlog::info("network function {}: {}", name, action);
    followers_.tell({{"event", "function"}, {"function", name}, {"action", action}});
}

} // namespace tna::daemon
