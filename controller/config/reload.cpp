// SPDX-License-Identifier: Apache-2.0
#include "config/reload.hpp"

namespace tna::config {

Reloaded reloaded(const Config& running, Config fresh) {
    Reloaded result{std::move(fresh), {}};
    auto& now = result.config;
    const auto keep = [&](const char* name, auto& setting, const auto& before) {
        if (setting == before)
            return;
        result.atNextStart.emplace_back(name);
        setting = before;
    };
    keep("kernel.fdb", now.kernel.fdb, running.kernel.fdb);
    keep("kernel.refresh", now.kernel.refresh, running.kernel.refresh);
    keep("kernel.self_check", now.kernel.selfCheck, running.kernel.selfCheck);
    keep("daemon.socket", now.daemon.socket, running.daemon.socket);
    keep("daemon.socket_group", now.daemon.socketGroup, running.daemon.socketGroup);
    keep("daemon.change_group", now.daemon.changeGroup, running.daemon.changeGroup);
    keep("daemon.log_level", now.daemon.logLevel, running.daemon.logLevel);
    keep("metrics.listen", now.metrics.listen, running.metrics.listen);
    keep("limits.max_ports", now.limits.maxPorts, running.limits.maxPorts);
    keep("limits.flows_per_cpu", now.limits.flowsPerCpu, running.limits.flowsPerCpu);
    keep("limits.max_stations", now.limits.maxStations, running.limits.maxStations);
    keep("limits.many_routes", now.limits.manyRoutes, running.limits.manyRoutes);
    keep("limits.destinations", now.limits.destinations, running.limits.destinations);
    keep("limits.connections", now.limits.connections, running.limits.connections);
    // What has no line here would be taken in by halves.
    now.kernel = running.kernel;
    now.daemon = running.daemon;
    now.metrics = running.metrics;
    now.limits = running.limits;
    return result;
}

} // namespace tna::config
