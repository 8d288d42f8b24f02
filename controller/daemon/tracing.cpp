// SPDX-License-Identifier: Apache-2.0
// The part of the controller that lets people see what is decided about packets.
#include "daemon/controller.hpp"
#include "daemon/trace.hpp"

#include <climits>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
constexpr std::size_t mostTraces = 2; ///< each is a module in the path of every packet

/// A shell pattern that is the name and no other.
std::string patternOf(const std::string& name) {
    std::string pattern;
    for (const char letter : name) {
        if (std::string_view("*?[]\\").find(letter) != std::string_view::npos)
            pattern += '\\';
        pattern += letter;
    }
    return pattern;
}

bool isAccelerated(const std::pair<const model::IfIndex, assemble::PortPlan>& port,
                   const std::map<model::IfIndex, Error>& failures) {
    return port.second.profile && !failures.contains(port.first);
}
} // namespace

/// Why nothing could be seen.
Result<void> Controller::traceable(const std::optional<std::string>& port) const {
    if (traces_.size() >= mostTraces)
        return std::unexpected(Error{"somebody else is tracing",
                                     fmt::format("{} traces at a time are the most", mostTraces),
                                     "wait until they are done"});
    if (!port) {
        if (std::ranges::any_of(plan_.ports,
                                [&](const auto& item) { return isAccelerated(item, failures_); }))
            return {};
        return std::unexpected(
            Error{"no port is accelerated, so all packets are Linux's", {}, "`tnactl status` says why"});
    }
    const auto found =
        std::ranges::find_if(plan_.ports, [&](const auto& item) { return item.second.name == *port; });
    if (found == plan_.ports.end())
        return std::unexpected(
            Error{"'" + *port + "' is not a port here", {}, "`tnactl status` lists the ports"});
    if (!isAccelerated(*found, failures_))
        return std::unexpected(Error{*port + " is not accelerated, so all its packets are Linux's",
                                     {},
                                     "`tnactl explain " + *port + "` says why"});
    return {};
}

Result<std::shared_ptr<void>> Controller::trace(const api::TraceWish& wish,
                                                const std::shared_ptr<api::LineSink>& lines) {
    {
        const std::lock_guard lock{mutex_};
        if (auto possible = traceable(wish.port); !possible)
            return std::unexpected(possible.error());
    }
    // What the kernel needs for verifying is not to keep the network waiting.
    auto tracer = deploy::Tracer::load(wish.oneIn);
    if (!tracer)
        return std::unexpected(tracer.error());
    const std::lock_guard lock{mutex_};
    if (auto possible = traceable(wish.port); !possible)
        return std::unexpected(possible.error());
    const auto name = fmt::format("@trace{}", ++lastTrace_);
    const auto ports = wish.port ? std::vector{patternOf(*wish.port)} : std::vector<std::string>{};
    custom_.put(name + "-ingress", {name + "-ingress", tracer->module(), {{"ingress"}, ports, {}, INT_MIN}});
    custom_.put(name, {name, tracer->module(), {{"bridge", "route"}, ports, {}, INT_MAX}});
    const auto takeOut = [this, name] {
        custom_.remove(name);
        custom_.remove(name + "-ingress");
    };
    if (auto used = useOrUndo(takeOut); !used)
        return std::unexpected(used.error());
    traces_.insert(name);
    spdlog::info("tracing one in {} packets of {}", wish.oneIn, wish.port.value_or("all ports"));
    const auto module = tracer->module(); // what is in place is named by the plan until the next one is
    return std::make_shared<Trace>(std::move(*tracer), lines, [this, name, takeOut, module] {
        const std::lock_guard atEnd{mutex_};
        takeOut();
        reconcile(std::chrono::steady_clock::now());
        useCustomModules();
        traces_.erase(name);
        spdlog::info("tracing ended");
    });
}

} // namespace tna::daemon
