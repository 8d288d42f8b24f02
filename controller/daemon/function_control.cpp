// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_control.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/pattern.hpp"
#include "daemon/function_views.hpp"
#include "deploy/custom/module_object.hpp"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace tna::daemon {

namespace {
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view suffix = ".toml";
constexpr std::size_t largestFile = std::size_t{1} << 20U;

/// Where the calling thread is; 0: nowhere that a port could be.
std::uint32_t thisNamespace() {
    struct stat status{};
    return ::stat("/proc/thread-self/ns/net", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

} // namespace

FunctionControl::Interfaces FunctionControl::interfaces() const {
    const auto names = set_.ports();
    Interfaces found;
    for (const auto& [ifindex, link] : supervisor_.network().links)
        if (std::ranges::find(names, link.name) != names.end())
            found.emplace(link.name, ifindex);
    return found;
}

/// What there is against steering frames of a port.
std::optional<Error> FunctionControl::obstacleAt(unsigned ifindex, const std::string& name) const {
    const auto refused = [&](std::string why, std::string hint) {
        return Error{fmt::format("no frames of {} can be steered", name), std::move(why), std::move(hint)};
    };
    // What the card has taken out of a frame, nobody could put back into it.
    if (const auto* link = supervisor_.network().link(ifindex);
        link != nullptr && link->kind != "veth" && (link->vlanRxOffload || link->serviceTagRxOffload))
        return refused("it takes VLAN tags out of frames before XDP sees them",
                       fmt::format("`ethtool -K {} rxvlan off rx-vlan-stag-hw-parse off`", name));
    const auto& ports = supervisor_.plan().ports;
    const auto it = ports.find(ifindex);
    if (it == ports.end())
        return std::nullopt;
    const auto& port = it->second;
    if (port.hook != assemble::Hook::xdp)
        return refused("it is accelerated at tcx, and steering is done at XDP",
                       "take its kind out of 'tcx_kinds'");
    if (const auto foreign = std::ranges::find(port.reasons, "foreign-xdp", &assemble::Reason::code);
        foreign != port.reasons.end())
        return refused(foreign->text, foreign->hint);
    return std::nullopt;
}

std::map<std::string, std::string> FunctionControl::obstacles(const Interfaces& there) const {
    std::map<std::string, std::string> found;
    for (const auto& [name, ifindex] : there)
        if (const auto against = obstacleAt(ifindex, name))
            found.emplace(name, against->sentence());
    return found;
}

std::optional<Error> FunctionControl::obstacle(const functions::Declaration& declared) const {
    for (const auto& [name, ifindex] : interfaces())
        if (std::ranges::find(declared.ports, name) != declared.ports.end())
            if (auto against = obstacleAt(ifindex, name))
                return against;
    return std::nullopt;
}

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
    auto there = interfaces();
    against_ = obstacles(there);
    std::erase_if(there, [&](const auto& port) { return against_.contains(port.first); });
    const auto table = set_.table(there);
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
    placedFor_ = std::move(there);
    auto placed = placeModule();
    if (placed)
        placed = steering_->replace(*table);
    if (!placed)
        placedFor_.clear(); // to be tried again
    return placed;
}

Result<void> FunctionControl::put(functions::Declaration declared, bool fromFile) {
    const auto name = declared.name;
    const auto before = set_;
    const auto* old = before.find(name);
    if (auto there = set_.put(std::move(declared), fromFile); !there)
        return there;
    auto applied = apply();
    if (auto against = applied ? obstacle(set_.find(name)->declared) : std::nullopt)
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
    placedFor_.clear();
    against_.clear();
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
    const auto paths = filesIn(directory, suffix);
    if (!paths) {
        spdlog::error("network functions stay as they are: {}", paths.error().sentence());
        return;
    }
    std::map<std::string, std::string> found;
    std::set<std::string> unreadable;
    for (const auto& path : *paths) {
        const auto base = fs::path(path).filename().string();
        const auto name = base.substr(0, base.size() - suffix.size());
        auto text = readNamedFile(path, largestFile, std::chrono::seconds(2));
        if (!text) {
            spdlog::error("network function {}: {}", name, text.error().sentence());
            unreadable.insert(name);
            continue;
        }
        found.emplace(name, std::move(*text));
    }
    // What is gone makes room for what is new.
    const auto before = std::exchange(files_, {});
    for (const auto& [name, text] : before) {
        const auto* there = set_.find(name);
        if (unreadable.contains(name) || there == nullptr || !there->fromFile)
            continue;
        if (found.contains(name)) {
            files_.emplace(name, text);
            continue;
        }
        takeOut(name);
        reporter_.functionChanged(name, "removed");
    }
    for (const auto& [name, text] : found) {
        if (const auto same = files_.find(name); same != files_.end() && same->second == text)
            continue;
        auto declared = functions::parseDeclaration(
            text, name, (fs::path(directory) / name).string() + std::string(suffix));
        auto done = declared ? put(std::move(*declared), true) : std::unexpected(declared.error());
        if (done)
            files_[name] = text; // what was refused is tried again the next time
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
    auto there = interfaces();
    const auto against = obstacles(there);
    for (const auto& [name, why] : against)
        if (there.erase(name) != 0 && !against_.contains(name))
            spdlog::warn("network functions: {}", why);
    if (!renewed && there == placedFor_ && against == against_ && !connections_.anyLostAPort())
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
    return viewFunction(function, connections_, *steering_, placedFor_, against_);
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
