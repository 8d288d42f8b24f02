// SPDX-License-Identifier: Apache-2.0
#include "daemon/rules_in_place.hpp"

#include "capability/symbols.hpp"
#include "introspect/rule_reader.hpp"

#include <linux/netfilter.h>

namespace tna::daemon {

namespace {
constexpr std::array<std::uint32_t, 3> hooks{NF_INET_PRE_ROUTING, NF_INET_FORWARD, NF_INET_POST_ROUTING};
} // namespace

Result<deploy::HookLists> RulesInPlaceReader::readHooks() {
    if (!probe_) {
        auto probe = deploy::HookProbe::load(deploy::Casts::untyped);
        if (!probe)
            probe = deploy::HookProbe::load(deploy::Casts::typed);
        if (!probe)
            return std::unexpected(probe.error());
        probe_.emplace(std::move(*probe));
    }
    return probe_->read();
}

/// Finding names takes a while, so it is done where something is called that was not called before.
Result<void> RulesInPlaceReader::name(const deploy::HookLists& lists) {
    if (lists == named_)
        return {};
    std::set<std::uint64_t> wanted;
    for (const auto* places : {&lists.ipv4, &lists.ipv6, &lists.bridge})
        for (const auto& list : *places)
            for (const auto& one : list.functions)
                wanted.insert(one.function);
    auto names = capability::symbolsAt(wanted);
    if (!names)
        return std::unexpected(names.error());
    names_ = std::move(*names);
    named_ = lists;
    return {};
}

void RulesInPlaceReader::take(model::RuleFamily family, const deploy::HookPlaces& places,
                              assemble::FunctionPlaces& functions,
                              std::vector<model::HookFunction>& all) const {
    for (std::size_t place = 0; place < places.size(); ++place) {
        const auto& list = places.at(place);
        functions.at(place) = {list.address, static_cast<unsigned>(list.functions.size())};
        for (const auto& one : list.functions) {
            const auto named = names_.find(one.function);
            all.push_back({.family = family,
                           .hook = hooks.at(place),
                           .priority = one.priority,
                           .function = named == names_.end() ? "" : named->second,
                           .module = {},
                           .ofTables = one.ofTables,
                           .program = one.program});
        }
    }
}

Result<assemble::RulesInPlace> RulesInPlaceReader::read() {
    auto set = introspect::readRuleSet();
    if (!set)
        return std::unexpected(set.error());
    assemble::RulesInPlace rules{.set = std::move(*set), .ipv4 = {}, .ipv6 = {}, .bridge = {}};
    const auto lists = readHooks();
    if (!lists)
        return std::unexpected(lists.error());
    if (auto named = name(*lists); !named)
        return std::unexpected(named.error());
    std::vector<model::HookFunction> all;
    take(model::RuleFamily::ip, lists->ipv4, rules.ipv4, all);
    take(model::RuleFamily::ip6, lists->ipv6, rules.ipv6, all);
    take(model::RuleFamily::bridge, lists->bridge, rules.bridge, all);
    rules.set.functions = std::move(all);
    return rules;
}

} // namespace tna::daemon
