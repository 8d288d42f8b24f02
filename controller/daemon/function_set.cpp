// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_set.hpp"

#include <algorithm>
#include <set>

namespace tna::daemon {

std::optional<Error> FunctionSet::obstacle(const functions::Declaration& declared) const {
    for (const auto& [name, other] : all_)
        for (const auto& port : other.declared.ports)
            for (const auto queue : other.declared.queues)
                if (name != declared.name &&
                    std::ranges::find(declared.ports, port) != declared.ports.end() &&
                    std::ranges::find(declared.queues, queue) != declared.queues.end())
                    return Error{
                        fmt::format("queue {} of {} is the network function '{}''s", queue, port, name),
                        {},
                        "the frames of a queue can be handed to one function only: name other 'queues' "
                        "or 'ports'",
                        ExitCode::usage};
    return std::nullopt;
}

std::optional<unsigned> FunctionSet::freeNumber() const {
    std::set<unsigned> taken;
    for (const auto& [name, function] : all_)
        taken.insert(function.number);
    for (unsigned number = 0; number < TNA_STEER_FUNCTIONS; number++)
        if (!taken.contains(number))
            return number;
    return std::nullopt;
}

/// Fewer than asked for if there are no more. Those of the declaration that is replaced come last: frames may
/// still be counted there.
std::vector<unsigned> FunctionSet::freeRules(std::size_t count, const Function* replaced) const {
    std::vector<bool> taken(TNA_STEER_RULES);
    for (const auto& [name, function] : all_)
        for (const auto number : function.ruleNumbers)
            taken[number] = true;
    std::vector<unsigned> found;
    for (unsigned number = 0; number < TNA_STEER_RULES; number++)
        if (!taken[number])
            found.push_back(number);
    if (replaced != nullptr)
        found.insert(found.end(), replaced->ruleNumbers.begin(), replaced->ruleNumbers.end());
    found.resize(std::min(found.size(), count));
    return found;
}

Result<void> FunctionSet::put(functions::Declaration declared, bool fromFile) {
    if (auto against = obstacle(declared))
        return std::unexpected(std::move(*against));
    const auto* before = find(declared.name);
    Function function{.fromFile = fromFile};
    if (before != nullptr) {
        function.number = before->number;
        function.bypassed = before->bypassed;
        if (before->declared.rules == declared.rules)
            function.ruleNumbers = before->ruleNumbers;
    } else if (const auto number = freeNumber()) {
        function.number = *number;
    } else {
        return fail("there are {} network functions already, which are the most", TNA_STEER_FUNCTIONS);
    }
    if (function.ruleNumbers.empty())
        function.ruleNumbers = freeRules(declared.rules.size(), before);
    if (function.ruleNumbers.size() < declared.rules.size())
        return std::unexpected(
            Error{fmt::format("'{}' has too many rules", declared.name),
                  fmt::format("all network functions together have room for {}", TNA_STEER_RULES),
                  {},
                  ExitCode::usage});
    const auto name = declared.name;
    function.declared = std::move(declared);
    all_.insert_or_assign(name, std::move(function));
    return {};
}

FunctionSet::Function* FunctionSet::find(const std::string& name) {
    const auto it = all_.find(name);
    return it == all_.end() ? nullptr : &it->second;
}

const FunctionSet::Function* FunctionSet::find(const std::string& name) const {
    const auto it = all_.find(name);
    return it == all_.end() ? nullptr : &it->second;
}

std::vector<std::string> FunctionSet::ports() const {
    std::set<std::string> names;
    for (const auto& [name, function] : all_)
        names.insert(function.declared.ports.begin(), function.declared.ports.end());
    return {names.begin(), names.end()};
}

bool FunctionSet::takesOn(const functions::Declaration& declared) const {
    return std::ranges::any_of(all_, [&](const auto& item) {
        const auto& before = item.second.declared;
        return before.givesOn && before.name != declared.name &&
               before.lastPriority() < declared.lastPriority() &&
               std::ranges::any_of(
                   declared.ports,
                   [&](const auto& port) {
                       return std::ranges::find(before.ports, port) != before.ports.end();
                   });
    });
}

Result<functions::SteeringTable> FunctionSet::table(const std::map<std::string, unsigned>& interfaces) const {
    std::vector<functions::Steered> steered;
    for (const auto& [name, function] : all_)
        steered.push_back({function.number, &function.declared, function.ruleNumbers});
    return functions::makeTable(steered, interfaces);
}

} // namespace tna::daemon
