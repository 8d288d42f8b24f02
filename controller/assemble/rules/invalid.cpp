// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/invalid.hpp"

#include "assemble/rules/functions.hpp"

#include <algorithm>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <tna/connection.h>
#include <utility>

namespace tna::assemble {

namespace {
using model::RuleFamily;
using rules::RuleDevice;

/// So many devices are asked for in pairs.
constexpr std::size_t mostInPairs = 16;
/// So many rules are walked through, for all ways together.
constexpr std::size_t mostRules = 1U << 20U;

/// At pre-routing netfilter does not know yet where a packet will leave, and behind a bridge not any more
/// where it came.
rules::AbstractPacket invalidPacket(const RuleDevice& from, const RuleDevice* to, const rules::Place& place) {
    return {.ipv6 = place.packets == RuleFamily::ip6,
            .protocol = IPPROTO_TCP,
            .invalid = true,
            .from = place.hook != NF_INET_POST_ROUTING ? &from : nullptr,
            .to = place.hook != NF_INET_PRE_ROUTING ? to : nullptr};
}
} // namespace

InvalidJudge::InvalidJudge(const model::RuleSet& set, RuleFamily family)
    : set_(set), family_(family), chains_(set), surroundings_(set) {
    for (const auto& place : rules::forwardPlaces()) {
        if (place.packets != family)
            continue;
        auto chains = rules::chainsAt(place, set);
        std::erase_if(chains, [](const model::RuleChain* chain) { return !rules::meetsInvalid(*chain); });
        forward_.push_back({place, std::move(chains)});
    }
    for (const auto& chain : set.chains)
        if (chain.family == family || chain.family == RuleFamily::inet)
            rules_ += chain.rules.size();
}

InvalidFate InvalidJudge::between(const RuleDevice& from, const RuleDevice* to) const {
    bool passed = true;
    for (const auto& [place, chains] : forward_) {
        rules::Ends ends;
        const auto packet = invalidPacket(from, to, place);
        for (const auto* chain : chains) {
            rules::Walk walk(packet, chains_, surroundings_);
            walk.base(*chain);
            if (rules::isTracked(*chain))
                ends.note(walk, chain->priority);
            passed &= !walk.mayBeDropped();
        }
        if (ends.dropsAll())
            return {Invalid::dropped, place.hook == NF_INET_PRE_ROUTING};
        if (ends.treatsSome())
            return {};
    }
    return {passed ? Invalid::passed : Invalid::depends};
}

/// Ways that are known, as many as there is room and time for.
class InvalidJudge::Collection {
public:
    explicit Collection(const InvalidJudge& judge) : judge_(judge) {}

    /// Whether what becomes of packets on this way is known.
    bool take(const RuleDevice& from, const RuleDevice* to) {
        const auto fate = judge(from, to);
        return fate && fate->becomes != Invalid::depends && add(from, to, *fate);
    }
    /// Takes it if they are dropped early; whether it is known if they are.
    bool takeEarly(const RuleDevice& from) {
        const auto fate = judge(from, nullptr);
        return fate && (!fate->early || add(from, nullptr, *fate));
    }
    [[nodiscard]] InvalidWays with(bool all) { return {.known = std::move(found_), .all = all}; }

private:
    std::optional<InvalidFate> judge(const RuleDevice& from, const RuleDevice* to) {
        walked_ += judge_.rules_;
        return walked_ <= mostRules ? std::optional(judge_.between(from, to)) : std::nullopt;
    }
    bool add(const RuleDevice& from, const RuleDevice* to, const InvalidFate& fate) {
        if (found_.size() == TNA_JUDGED_WAYS_MAX)
            return false;
        found_.push_back({from, to != nullptr ? std::optional(*to) : std::nullopt, fate});
        return true;
    }

    const InvalidJudge& judge_;
    std::vector<InvalidWay> found_;
    std::size_t walked_ = 0;
};

InvalidWays InvalidJudge::ways(const std::vector<RuleDevice>& devices) const {
    Collection found(*this);
    std::vector<const RuleDevice*> asked;
    for (const auto& from : devices)
        if (!found.take(from, nullptr))
            asked.push_back(&from);
    bool all = !devices.empty();
    for (const auto* from : asked)
        all &= found.take(*from, from);
    if (devices.size() > mostInPairs)
        return found.with(all && asked.empty());
    for (const auto* from : asked)
        for (const auto& to : devices)
            if (&to != from)
                all &= found.take(*from, &to);
    return found.with(all);
}

InvalidWays InvalidJudge::droppedEarly(const std::vector<RuleDevice>& devices) const {
    Collection found(*this);
    bool all = true;
    for (const auto& from : devices)
        all &= found.takeEarly(from);
    return found.with(all);
}

bool InvalidJudge::droppedForHost(const RuleDevice& loopback) const {
    if (!set_.functions)
        return false;
    const rules::Place place{family_, NF_INET_LOCAL_IN};
    const rules::AbstractPacket packet{
        .ipv6 = family_ == RuleFamily::ip6, .protocol = IPPROTO_TCP, .invalid = true, .notFrom = &loopback};
    rules::Ends ends;
    for (const auto* chain : rules::chainsAt(place, set_)) {
        if (!rules::meetsInvalid(*chain))
            continue;
        rules::Walk walk(packet, chains_, surroundings_);
        walk.base(*chain);
        ends.note(walk, chain->priority);
    }
    for (const auto& one : *set_.functions)
        if (one.family == family_ && one.hook == place.hook && rules::mayTreatFlowsUnalike(one))
            ends.noteTreated(one.priority);
    return ends.dropsAll();
}

} // namespace tna::assemble
