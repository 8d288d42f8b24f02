// SPDX-License-Identifier: Apache-2.0
#include "daemon/questions.hpp"

#include "daemon/views.hpp"
#include "graph/graph.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tna::daemon {

namespace {
using nlohmann::json;

PortState portsOf(const Supervisor& supervisor) {
    return {supervisor.network(), supervisor.plan(), supervisor.dataPath().counters(), supervisor.failures()};
}

json eventsOf(const Supervisor& supervisor, const Events& events) {
    const auto read = supervisor.source().stats();
    return {{"netlink", read.events},
            {"resyncs", read.resyncs},
            {"swaps", events.swaps},
            {"last_swap_us", events.lastSwapMicroseconds},
            {"last_swap_at_ns", events.lastSwapAt},
            {"settled", supervisor.dataPath().attachedPrograms().settled()},
            {"fdb_readings", supervisor.way().readings()},
            {"failures", events.failures},
            {"self_checks_failed", events.selfChecksFailed}};
}
} // namespace

json Questions::status() const {
    const auto uptime = std::chrono::steady_clock::now() - started_;
    return {{"api", 1},
            {"version", TNA_VERSION},
            {"pid", ::getpid()},
            {"uptime_s", std::chrono::duration_cast<std::chrono::seconds>(uptime).count()},
            {"paused", wanted_.paused.all},
            {"fdb", fdbWay(supervisor_.observed().capabilities)},
            {"ports", viewPorts(portsOf(supervisor_))},
            {"events", eventsOf(supervisor_, reporter_.events())},
            {"self_check", selfCheck()}};
}

json Questions::selfCheck() const {
    const auto& dataPath = supervisor_.dataPath();
    const auto found = dataPath.selfCheck().disagreement();
    return {{"one_in", supervisor_.way().checksItself() ? wanted_.config.kernel.selfCheck : 0},
            {"paused", dataPath.selfCheck().mistrusted()},
            {"found", found ? disagreementDocument(*found, supervisor_.network()) : json()}};
}

json Questions::events() const {
    auto document = eventsOf(supervisor_, reporter_.events());
    document["api"] = 1;
    return document;
}

std::optional<json> Questions::port(const std::string& name) const {
    return viewPort(portsOf(supervisor_), name);
}

json Questions::graph() const {
    return viewGraph(graph::build(supervisor_.network()), supervisor_.plan());
}

json Questions::capabilities() const {
    return viewCapabilities(supervisor_.observed().capabilities, supervisor_.network());
}

std::string Questions::summary() const {
    const auto& ports = supervisor_.plan().ports;
    const auto accelerated = std::ranges::count_if(ports, [&](const auto& item) {
        return item.second.accelerated() && !supervisor_.failures().contains(item.first);
    });
    return fmt::format("{} of {} ports accelerated", accelerated, ports.size());
}

} // namespace tna::daemon
