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
/// So many steps through rules are done, for all ways together: half a second.
constexpr std::size_t mostSteps = 1U << 21U;

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
}

InvalidFate InvalidJudge::between(const RuleDevice& from, const RuleDevice* to) const {
    bool passed = true, early = false;
    for (const auto& [place, chains] : forward_) {
        rules::Ends ends;
        const auto packet = invalidPacket(from, to, place);
        for (const auto* chain : chains) {
            rules::Walk walk(packet, chains_, surroundings_);
            walk.base(*chain);
            ends.note(walk, *chain);
            passed &= !walk.mayBeDropped();
            steps_ += walk.steps();
        }
        early |= !passed && place.hook == NF_INET_PRE_ROUTING;
        if (ends.dropsAll())
            return {Invalid::dropped, early};
        if (ends.treatsSome())
            return {};
    }
    return {passed ? Invalid::passed : Invalid::depends};
}

InvalidWays InvalidJudge::ways(const std::vector<RuleDevice>& devices) const {
    InvalidWays ways{.known = {}, .all = !devices.empty()};
    const auto take = [&](const RuleDevice& from, const RuleDevice* to) {
        if (ways.known.size() == TNA_JUDGED_WAYS_MAX || steps_ >= mostSteps)
            return false;
        const auto fate = between(from, to);
        if (fate.becomes == Invalid::depends)
            return false;
        ways.known.push_back({from, to != nullptr ? std::optional(*to) : std::nullopt, fate});
        return true;
    };
    std::vector<const RuleDevice*> asked;
    for (const auto& from : devices)
        if (!take(from, nullptr)) {
            ways.all &= take(from, &from);
            asked.push_back(&from);
        }
    if (devices.size() > mostInPairs) {
        ways.all &= asked.empty();
        return ways;
    }
    for (const auto* from : asked)
        for (const auto& to : devices)
            if (&to != from)
                ways.all &= take(*from, &to);
    return ways;
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
        // The functions of this hook are not compared for each packet.
        if (rules::mayGoUnnoticed(*chain, set_)) {
            ends.noteTreated(chain->priority);
            continue;
        }
        rules::Walk walk(packet, chains_, surroundings_);
        walk.base(*chain);
        ends.note(walk, *chain);
    }
    for (const auto& one : *set_.functions)
        if (one.family == family_ && one.hook == place.hook && rules::mayTreatFlowsUnalike(one))
            ends.noteTreated(one.priority);
    return ends.dropsAll();
}

} // namespace tna::assemble
