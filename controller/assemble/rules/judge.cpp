// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/judge.hpp"

#include "assemble/rules/text.hpp"
#include "assemble/rules/walk.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>

namespace tna::assemble {

namespace {
using model::RuleChain;
using model::RuleFamily;
using rules::AbstractPacket;

constexpr std::size_t mostObstacles = 20;

/// The hooks that packets pass which are forwarded; of a bridge those, too, that are routed from and to it.
struct Place {
    RuleFamily packets;
    std::uint32_t hook;
};
constexpr std::array places{
    Place{RuleFamily::ip, NF_INET_PRE_ROUTING},     Place{RuleFamily::ip, NF_INET_FORWARD},
    Place{RuleFamily::ip, NF_INET_POST_ROUTING},    Place{RuleFamily::ip6, NF_INET_PRE_ROUTING},
    Place{RuleFamily::ip6, NF_INET_FORWARD},        Place{RuleFamily::ip6, NF_INET_POST_ROUTING},
    Place{RuleFamily::bridge, NF_INET_PRE_ROUTING}, Place{RuleFamily::bridge, NF_INET_LOCAL_IN},
    Place{RuleFamily::bridge, NF_INET_FORWARD},     Place{RuleFamily::bridge, NF_INET_LOCAL_OUT},
    Place{RuleFamily::bridge, NF_INET_POST_ROUTING}};

bool passes(const Place& place, const RuleChain& chain) {
    const bool family = chain.family == place.packets ||
                        (chain.family == RuleFamily::inet && place.packets != RuleFamily::bridge);
    return chain.base && family && chain.hook == place.hook;
}

/// Where connections are looked up (NF_IP_PRI_CONNTRACK, the same for all families).
AbstractPacket::Tracking trackingAt(const RuleChain& chain) {
    using Tracking = AbstractPacket::Tracking;
    if (chain.hook != NF_INET_PRE_ROUTING || chain.priority > NF_IP_PRI_CONNTRACK)
        return Tracking::done;
    return chain.priority < NF_IP_PRI_CONNTRACK ? Tracking::before : Tracking::either;
}

/// iptables-nft names its chains like that.
bool isOfIptables(const RuleChain& base) {
    return base.name == "PREROUTING" || base.name == "FORWARD" || base.name == "POSTROUTING";
}

std::string hintFor(const RuleChain& base) {
    if (trackingAt(base) != AbstractPacket::Tracking::done)
        return "connections are not known yet in a chain of this priority: move the rule into one whose "
               "priority "
               "is above -200, behind a rule that accepts established connections";
    if (isOfIptables(base) && base.family != RuleFamily::inet && base.family != RuleFamily::bridge)
        return fmt::format("accept established connections before it: `{} -t {} -I {} -m conntrack --ctstate "
                           "ESTABLISHED,RELATED -j ACCEPT`",
                           base.family == RuleFamily::ip6 ? "ip6tables" : "iptables", base.table, base.name);
    return fmt::format("accept established connections before it: `nft insert rule {} {} {} ct state "
                       "established,related accept`",
                       textOf(base.family), base.table, base.name);
}

/// Judges one place.
class Judge {
public:
    Judge(const model::RuleSet& set, const rules::Chains& chains, const rules::Surroundings& surroundings)
        : set_(set), chains_(chains), surroundings_(surroundings) {}

    [[nodiscard]] JudgedHook judge(const Place& place) {
        judged_ = {};
        judged_.packets = place.packets;
        judged_.hook = place.hook;
        looksAt_.clear();
        for (const auto* chain : chainsAt(place)) {
            const bool forNewOnly = chain->type == "nat";
            judged_.chains.push_back(
                {chain->family, chain->table, chain->name, chain->type, chain->priority, forNewOnly});
            if (!forNewOnly)
                walk(place, *chain);
        }
        lookForLegacy(place);
        lookForOthers(place);
        judged_.looksAt.assign(looksAt_.begin(), looksAt_.end());
        return std::move(judged_);
    }

private:
    [[nodiscard]] std::vector<const RuleChain*> chainsAt(const Place& place) const {
        std::vector<const RuleChain*> found;
        for (const auto& chain : set_.chains)
            if (passes(place, chain) && !isDormant(chain))
                found.push_back(&chain);
        std::ranges::stable_sort(found, {}, &RuleChain::priority);
        return found;
    }

    [[nodiscard]] bool isDormant(const RuleChain& chain) const {
        return std::ranges::any_of(set_.tables, [&](const model::RuleTable& table) {
            return table.family == chain.family && table.name == chain.table &&
                   (table.flags & NFT_TABLE_F_DORMANT) != 0;
        });
    }

    void walk(const Place& place, const RuleChain& base) {
        for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
            for (const bool ipv6 : {false, true}) {
                if ((place.packets == RuleFamily::ip && ipv6) || (place.packets == RuleFamily::ip6 && !ipv6))
                    continue;
                const AbstractPacket packet{place.packets == RuleFamily::bridge, ipv6, protocol,
                                            trackingAt(base)};
                rules::Walk walk(packet, chains_, surroundings_);
                walk.base(base);
                looksAt_.insert(walk.looksAt().begin(), walk.looksAt().end());
                for (const auto& finding : walk.findings())
                    add(obstacleOf(finding, base, protocol));
            }
        }
    }

    [[nodiscard]] static RuleObstacle obstacleOf(const rules::Finding& finding, const RuleChain& base,
                                                 std::uint8_t protocol) {
        RuleObstacle obstacle{finding.chain->family, finding.chain->table, finding.chain->name};
        if (finding.rule != nullptr) {
            obstacle.handle = finding.rule->handle;
            obstacle.rule = textOf(*finding.rule, *finding.chain);
        }
        obstacle.reason = finding.reason;
        obstacle.hint = hintFor(base);
        (protocol == IPPROTO_TCP ? obstacle.tcp : obstacle.udp) = true;
        return obstacle;
    }

    /// The same rule may be in the way of both protocols.
    void add(RuleObstacle obstacle) {
        judged_.steadyForTcp &= !obstacle.tcp;
        judged_.steadyForUdp &= !obstacle.udp;
        const auto same = std::ranges::find_if(judged_.obstacles, [&](const RuleObstacle& one) {
            return one.family == obstacle.family && one.table == obstacle.table &&
                   one.chain == obstacle.chain && one.handle == obstacle.handle &&
                   one.reason == obstacle.reason;
        });
        if (same != judged_.obstacles.end()) {
            same->tcp |= obstacle.tcp;
            same->udp |= obstacle.udp;
        } else if (judged_.obstacles.size() < mostObstacles) {
            judged_.obstacles.push_back(std::move(obstacle));
        } else {
            ++judged_.moreObstacles;
        }
    }

    void addForAll(RuleFamily family, std::string table, std::string reason, std::string hint) {
        RuleObstacle obstacle{family, std::move(table)};
        obstacle.reason = std::move(reason);
        obstacle.hint = std::move(hint);
        obstacle.tcp = obstacle.udp = true;
        add(std::move(obstacle));
    }

    /// Its rules change without notice: neither is there a generation, nor can their number be seen.
    void lookForLegacy(const Place& place) {
        const auto prefix = textOf(place.packets) + ' ';
        for (const auto& name : set_.legacyTables)
            if (name.starts_with(prefix))
                addForAll(place.packets, name.substr(prefix.size()),
                          "a table of iptables-legacy: its rules change without the kernel telling",
                          "use iptables-nft instead (`update-alternatives --config iptables`), and load the "
                          "rules anew");
    }

    void lookForOthers(const Place& place) {
        // What is the kernel's own and does the same for all packets of a connection; rules are walked.
        static constexpr std::array known{"conntrack",    "defrag",       "nf_nat",       "nf_confirm",
                                          "nf_ct_bridge", "ipv4_confirm", "nft_do_chain", "br_nf_"};
        if (!set_.functions)
            return;
        for (const auto& one : *set_.functions)
            if (one.family == place.packets && one.hook == place.hook && !one.ofTables &&
                std::ranges::none_of(known, [&](const char* part) { return one.function.contains(part); }))
                addForAll(one.family, "",
                          fmt::format("a function that is not known is called here: {}{}",
                                      one.function.empty() ? "without a name" : one.function,
                                      one.module.empty() ? "" : " of the kernel module " + one.module),
                          "nothing can be done about it in the rules");
    }

    const model::RuleSet& set_;
    const rules::Chains& chains_;
    const rules::Surroundings& surroundings_;
    JudgedHook judged_;
    std::set<std::string> looksAt_;
};
} // namespace

std::vector<JudgedHook> judgeRules(const model::RuleSet& set) {
    const rules::Chains chains(set);
    const rules::Surroundings surroundings(set);
    std::vector<JudgedHook> hooks;
    for (const auto& place : places)
        hooks.push_back(Judge(set, chains, surroundings).judge(place));
    return hooks;
}

} // namespace tna::assemble
