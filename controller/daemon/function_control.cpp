// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_control.hpp"

#include "base/pattern.hpp"
#include "daemon/function_views.hpp"
#include "deploy/custom/module_object.hpp"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <utility>

namespace tna::daemon {

namespace {
using nlohmann::json;

/// Where the calling thread is; 0: nowhere that a port could be.
std::uint32_t thisNamespace() {
    struct stat status{};
    return ::stat("/proc/thread-self/ns/net", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

} // namespace

/// The module goes behind all others at ingress, on the functions' ports.
Result<void> FunctionControl::placeModule() {
    std::vector<std::string> patterns;
    for (const auto& name : set_.ports())
        patterns.push_back(patternOf(name));
    auto module =
        CustomModules::make(steeringModule, steering_->module(), {{"ingress"}, patterns, {}, INT_MAX});
    const auto* before = wanted_.modules.find(steeringModule);
    if (before != nullptr && before->placement == module.placement)
        return {};
    auto old = wanted_.modules.put(steeringModule, std::move(module));
    return supervisor_.useModulesOrUndo([&] {
        if (old)
            wanted_.modules.put(steeringModule, std::move(*old));
        else
            wanted_.modules.remove(steeringModule);
    });
}

/// What fits is what fits into the memory of all who are connected, whatever is declared by now.
Result<void> FunctionControl::tellOf(const FunctionSet::Function& function) const {
    const auto& declared = function.declared;
    const unsigned flags = (declared.drop ? TNA_STEER_DROP : 0U) |
                           (function.bypassed ? TNA_STEER_BYPASS : 0U) |
                           (declared.givesOn ? TNA_STEER_GIVES_ON : 0U);
    return steering_->setFunction(function.number,
                                  {flags, std::min(declared.longest(), connections_.longest(declared.name)),
                                   functions::rankOf(declared.lastPriority()), thisNamespace()});
}

Result<void> FunctionControl::apply() {
    auto there = functionPorts(set_.ports(), supervisor_.network(), supervisor_.plan());
    ports_.against = std::move(there.against);
    const auto table = set_.table(there.usable);
    if (!table)
        return std::unexpected(table.error());
    if (!steering_) {
        auto loaded = deploy::Steering::load();
        if (!loaded)
            return std::unexpected(loaded.error());
        steering_ = std::move(*loaded);
        wayBack_.make(*steering_);
    }
    for (const auto& [name, function] : set_.all()) {
        if (auto told = tellOf(function); !told)
            return told;
        if (function.declared.givesOn)
            if (auto let = wayBack_.letReceive(); !let)
                return let;
    }
    ports_.usable = std::move(there.usable);
    auto placed = placeModule();
    if (placed)
        placed = steering_->replace(*table);
    if (!placed)
        ports_.usable.clear(); // to be tried again
    return placed;
}

Result<void> FunctionControl::put(functions::Declaration declared, bool fromFile) {
    const auto name = declared.name;
    const auto before = set_;
    const auto* old = before.find(name);
    if (auto there = set_.put(std::move(declared), fromFile); !there)
        return there;
    auto applied = apply();
    if (auto against = applied ? whyNotSteered(set_.find(name)->declared.ports, supervisor_.network(),
                                               supervisor_.plan())
                               : std::nullopt)
        applied = std::unexpected(std::move(*against));
    if (!applied) {
        set_ = before;
        if (set_.all().empty())
            takeOut({});
        else
            (void)apply();
        return applied;
    }
    // Who has connected to another declaration has other memory, or other ports.
    auto alike = old != nullptr ? old->declared : functions::Declaration{};
    alike.rules = set_.find(name)->declared.rules;
    if (old != nullptr && alike != set_.find(name)->declared)
        connections_.end(name, *steering_);
    endOutdated();
    if (auto told = tellOf(*set_.find(name)); !told)
        spdlog::error("network function {}: {}", name, told.error().sentence());
    if (old == nullptr || old->declared.rules != set_.find(name)->declared.rules)
        for (const auto rule : set_.find(name)->ruleNumbers)
            steering_->forgetCounters(rule);
    reporter_.functionChanged(name, old == nullptr ? "added" : "replaced");
    return {};
}

Result<json> FunctionControl::add(const std::string& name, const std::string& text) {
    if (const auto* there = set_.find(name); there != nullptr && there->fromFile)
        return std::unexpected(Error{fmt::format("the network function '{}' is declared in a file", name),
                                     {},
                                     "change the file, and then `systemctl reload tnad`"});
    auto declared = functions::parseDeclaration(text, name, name);
    if (!declared)
        return std::unexpected(declared.error());
    if (auto done = put(std::move(*declared), false); !done)
        return std::unexpected(done.error());
    return viewOf(*set_.find(name));
}

/// The last one takes all of it along.
void FunctionControl::takeOut(const std::string& name) {
    if (steering_ && !name.empty())
        connections_.end(name, *steering_);
    set_.remove(name);
    if (!set_.all().empty()) {
        if (auto applied = apply(); !applied)
            spdlog::error("{}", applied.error().sentence());
        return;
    }
    // What is in place is named by the plan until the next one is.
    const auto keptAlive = steering_ ? steering_->module() : nullptr;
    wanted_.modules.remove(steeringModule);
    supervisor_.reconcile();
    supervisor_.useModules();
    wayBack_.takeAway();
    steering_.reset();
    ports_ = {};
}

Result<bool> FunctionControl::remove(const std::string& name) {
    const auto* there = set_.find(name);
    if (there == nullptr)
        return false;
    if (there->fromFile)
        return std::unexpected(Error{fmt::format("the network function '{}' is declared in a file", name),
                                     {},
                                     "remove the file, and then `systemctl reload tnad`; or bypass it"});
    takeOut(name);
    reporter_.functionChanged(name, "removed");
    return true;
}

Result<bool> FunctionControl::bypass(const std::string& name, bool bypassed) {
    auto* there = set_.find(name);
    if (there == nullptr)
        return false;
    if (there->bypassed == bypassed)
        return true;
    there->bypassed = bypassed;
    if (auto applied = apply(); !applied) {
        there->bypassed = !bypassed;
        return std::unexpected(applied.error());
    }
    reporter_.functionChanged(name, bypassed ? "bypassed" : "resumed");
    return true;
}

void FunctionControl::readDirectory(const std::string& directory) {
    const auto changes = files_.read(directory, [&](const std::string& name) {
        const auto* there = set_.find(name);
        return there != nullptr && there->fromFile;
    });
    if (!changes) {
        spdlog::error("network functions stay as they are: {}", changes.error().sentence());
        return;
    }
    // What is gone makes room for what is new.
    for (const auto& name : changes->gone) {
        takeOut(name);
        reporter_.functionChanged(name, "removed");
    }
    for (const auto& [name, text] : changes->changed) {
        auto declared = functions::parseDeclaration(text, name, FunctionFiles::pathOf(directory, name));
        auto done = declared ? put(std::move(*declared), true) : std::unexpected(declared.error());
        if (done)
            files_.takenIn(name, text);
        else
            spdlog::error("network function {}: {}", name, done.error().sentence());
    }
}

std::expected<functions::Declaration, FunctionControl::Refused>
FunctionControl::declared(const std::string& name) const {
    if (const auto* function = set_.find(name))
        return function->declared;
    return std::unexpected(Refused{
        {fmt::format("there is no network function '{}'", name), {}, "`tnactl function list` lists them"}});
}

std::expected<FunctionPlan, FunctionControl::Refused>
FunctionControl::plan(const functions::Declaration& declared, const FunctionCaller& caller) const {
    const auto* function = set_.find(declared.name);
    if (function == nullptr || function->declared != declared)
        return std::unexpected(Refused{Error{fmt::format("'{}' has just been changed", declared.name)}});
    auto plan = connections_.plan(*function, set_.takesOn(declared), caller, supervisor_.network());
    if (!plan)
        return std::unexpected(Refused{plan.error(), plan.error().code == ExitCode::usage});
    return std::move(*plan);
}

std::expected<HandedOver, FunctionControl::Refused>
FunctionControl::connect(const FunctionPlan& plan, FunctionParts parts, FunctionCaller caller) {
    const auto now = this->plan(plan.declared, caller);
    if (!now)
        return std::unexpected(now.error());
    if (*now != plan ||
        !std::ranges::all_of(parts.presences, [](const auto& presence) { return presence.lasts(); }))
        return std::unexpected(
            Refused{Error{fmt::format("what '{}' is to get has just been changed", plan.declared.name)}});
    const auto process = caller.process;
    const auto user = caller.user;
    auto opened = connections_.open(plan, std::move(parts), std::move(caller), *steering_);
    if (!opened)
        return std::unexpected(Refused{opened.error(), opened.error().code == ExitCode::usage});
    spdlog::info("network function {}: process {} of user {} has connected", plan.declared.name, process,
                 user);
    return std::move(*opened);
}

void FunctionControl::disconnected(std::uint64_t id) {
    const auto it = connections_.all().find(id);
    if (it == connections_.all().end())
        return;
    spdlog::info("network function {}: process {} has gone", it->second.function, it->second.process);
    connections_.close(id, *steering_);
}

void FunctionControl::follow() {
    if (!steering_)
        return;
    const bool renewed = wayBack_.renewIfGone(*steering_);
    const auto there = functionPorts(set_.ports(), supervisor_.network(), supervisor_.plan());
    for (const auto& [name, why] : there.against)
        if (!ports_.against.contains(name))
            spdlog::warn("network functions: {}", why);
    if (!renewed && there == ports_ && !connections_.anyLostAPort())
        return;
    if (auto applied = apply(); !applied)
        spdlog::error("network functions: {}", applied.error().sentence());
    endOutdated();
}

void FunctionControl::endOutdated() {
    for (const auto& [name, function] : set_.all())
        connections_.endOutdated(function, set_.takesOn(function.declared), supervisor_.network(),
                                 *steering_);
}

json FunctionControl::viewOf(const FunctionSet::Function& function) const {
    return viewFunction(function, connections_, *steering_, ports_.usable, ports_.against);
}

json FunctionControl::list() const {
    json list = json::array();
    for (const auto& [name, function] : set_.all())
        list.push_back(viewOf(function));
    return {{"api", 1},
            {"way_back", steering_ == nullptr ? json() : json(wayBack_.isThere())},
            {"no_way_back", wayBack_.whyNot().empty() ? json() : json(wayBack_.whyNot())},
            {"functions", list}};
}

json FunctionControl::summary() const {
    json list = json::array();
    for (const auto& [name, function] : set_.all())
        list.push_back(summarize(viewOf(function)));
    return list;
}

std::optional<json> FunctionControl::find(const std::string& name) const {
    const auto* function = set_.find(name);
    return function == nullptr ? std::nullopt : std::optional{viewOf(*function)};
}

} // namespace tna::daemon
