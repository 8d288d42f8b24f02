// SPDX-License-Identifier: Apache-2.0
#include "daemon/trace_control.hpp"

#include "base/pattern.hpp"

#include <algorithm>
#include <climits>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
constexpr std::size_t mostTraces = 2; ///< each is a module in the path of every packet
/// A trace is two custom modules: one that sees what comes in, and one that sees what is decided.
constexpr auto ingressSuffix = "-ingress";

bool isAccelerated(const std::pair<const model::IfIndex, assemble::PortPlan>& port,
                   const Failures& failures) {
    return port.second.accelerated() && !failures.contains(port.first);
}
} // namespace

Result<void> TraceControl::check(const std::optional<std::string>& port) const {
    if (traces_.size() >= mostTraces)
        return std::unexpected(Error{"somebody else is tracing",
                                     fmt::format("{} traces at a time are the most", mostTraces),
                                     "wait until they are done"});
    const auto& ports = supervisor_.plan().ports;
    const auto& failures = supervisor_.failures();
    if (!port) {
        if (std::ranges::any_of(ports, [&](const auto& item) { return isAccelerated(item, failures); }))
            return {};
        return std::unexpected(
            Error{"no port is accelerated, so all packets are Linux's", {}, "`tnactl status` says why"});
    }
    const auto found =
        std::ranges::find_if(ports, [&](const auto& item) { return item.second.name == *port; });
    if (found == ports.end())
        return std::unexpected(
            Error{"'" + *port + "' is not a port here", {}, "`tnactl status` lists the ports"});
    if (!isAccelerated(*found, failures))
        return std::unexpected(Error{*port + " is not accelerated, so all its packets are Linux's",
                                     {},
                                     "`tnactl explain " + *port + "` says why"});
    return {};
}

Result<std::string> TraceControl::begin(const std::shared_ptr<const deploy::ModuleObject>& module,
                                        const api::TraceWish& wish) {
    if (auto possible = check(wish.port); !possible)
        return std::unexpected(possible.error());
    auto name = fmt::format("@trace{}", ++last_);
    const auto ports = wish.port ? std::vector{patternOf(*wish.port)} : std::vector<std::string>{};
    modules_.put(name + ingressSuffix,
                 CustomModules::make(name + ingressSuffix, module, {{"ingress"}, ports, {}, INT_MIN}));
    modules_.put(name, CustomModules::make(name, module, {{"bridge", "route"}, ports, {}, INT_MAX}));
    if (auto used = supervisor_.useModulesOrUndo([&] { takeOut(name); }); !used)
        return std::unexpected(used.error());
    traces_.insert(name);
    spdlog::info("tracing one in {} packets of {}", wish.oneIn, wish.port.value_or("all ports"));
    return name;
}

void TraceControl::takeOut(const std::string& name) {
    modules_.remove(name);
    modules_.remove(name + ingressSuffix);
}

void TraceControl::end(const std::string& name) {
    // What is in place is named by the plan until the next one is.
    const auto* module = modules_.find(name);
    const auto keptAlive = module != nullptr ? module->object : nullptr;
    takeOut(name);
    supervisor_.reconcile();
    supervisor_.useModules();
    traces_.erase(name);
    spdlog::info("tracing ended");
}

} // namespace tna::daemon
