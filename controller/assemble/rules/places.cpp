// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/places.hpp"

#include <algorithm>
#include <array>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>

namespace tna::assemble::rules {

namespace {
using model::RuleChain;
using model::RuleFamily;

bool passes(const Place& place, const RuleChain& chain) {
    const bool family = chain.family == place.packets ||
                        (chain.family == RuleFamily::inet && place.packets != RuleFamily::bridge);
    return chain.base && family && chain.hook == place.hook;
}

std::uint32_t flagsOfTable(const RuleChain& chain, const model::RuleSet& set) {
    const auto table = std::ranges::find_if(set.tables, [&](const model::RuleTable& one) {
        return one.family == chain.family && one.name == chain.table;
    });
    return table == set.tables.end() ? 0 : table->flags;
}

/// Whether its table sleeps.
bool isDormant(const RuleChain& chain, const model::RuleSet& set) {
    return (flagsOfTable(chain, set) & NFT_TABLE_F_DORMANT) != 0;
}

void take(std::optional<std::int32_t>& earliest, std::int32_t priority) {
    earliest = std::min(earliest.value_or(priority), priority);
}

constexpr std::array all{
    Place{RuleFamily::ip, NF_INET_PRE_ROUTING},     Place{RuleFamily::ip, NF_INET_FORWARD},
    Place{RuleFamily::ip, NF_INET_POST_ROUTING},    Place{RuleFamily::ip6, NF_INET_PRE_ROUTING},
    Place{RuleFamily::ip6, NF_INET_FORWARD},        Place{RuleFamily::ip6, NF_INET_POST_ROUTING},
    Place{RuleFamily::bridge, NF_INET_PRE_ROUTING}, Place{RuleFamily::bridge, NF_INET_LOCAL_IN},
    Place{RuleFamily::bridge, NF_INET_FORWARD},     Place{RuleFamily::bridge, NF_INET_LOCAL_OUT},
    Place{RuleFamily::bridge, NF_INET_POST_ROUTING}};
} // namespace

std::span<const Place> forwardPlaces() {
    return all;
}

std::vector<const RuleChain*> chainsAt(const Place& place, const model::RuleSet& set) {
    std::vector<const RuleChain*> found;
    for (const auto& chain : set.chains)
        if (passes(place, chain) && !isDormant(chain, set))
            found.push_back(&chain);
    std::ranges::stable_sort(found, {}, &RuleChain::priority);
    return found;
}

bool mayGoUnnoticed(const RuleChain& chain, const model::RuleSet& set) {
    constexpr std::uint32_t persists = 1U << 2; // NFT_TABLE_F_PERSIST, since Linux 6.9
    const auto flags = flagsOfTable(chain, set);
    return (flags & NFT_TABLE_F_OWNER) != 0 && (flags & persists) == 0;
}

bool isTracked(const RuleChain& base) {
    return base.hook != NF_INET_PRE_ROUTING || base.priority > NF_IP_PRI_CONNTRACK;
}

bool meetsInvalid(const RuleChain& base) {
    return base.type != "nat" && (base.hook != NF_INET_PRE_ROUTING || base.priority >= NF_IP_PRI_CONNTRACK);
}

bool exemptsInTime(const RuleChain& base) {
    constexpr std::int32_t learns = NF_IP_PRI_CONNTRACK - 1; // Learner's vet4 and vet6
    return base.hook == NF_INET_PRE_ROUTING && base.priority > NF_IP_PRI_CONNTRACK_DEFRAG &&
           base.priority < learns;
}

void Ends::note(const Walk& walk, const RuleChain& base) {
    if (!walk.mayPass() && isTracked(base))
        take(dropped_, base.priority);
    if (walk.mayBeTreated() || walk.mayChangeSides())
        noteTreated(base.priority);
    marked_ |= walk.mayBeMarked();
}

void Ends::noteTreated(std::int32_t priority) {
    take(treated_, priority);
}

} // namespace tna::assemble::rules
