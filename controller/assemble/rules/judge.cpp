// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/judge.hpp"

#include "assemble/rules/functions.hpp"
#include "assemble/rules/places.hpp"
#include "assemble/rules/text.hpp"
#include "assemble/rules/walk.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <map>
#include <string_view>
#include <utility>

namespace tna::assemble {

namespace {
using model::RuleChain;
using model::RuleFamily;
using rules::AbstractPacket;

constexpr std::size_t mostObstacles = 20;

/// iptables-nft names its chains like that.
bool isOfIptables(const RuleChain& base) {
    return base.name == "PREROUTING" || base.name == "FORWARD" || base.name == "POSTROUTING";
}

/// Who accepts established connections before their packets get the marks that they are routed by has them
/// routed otherwise.
std::string hintFor(const RuleChain& base, bool marks) {
    if (!rules::isTracked(base))
        return "connections are not known yet in a chain of this priority: move the rule into one whose "
               "priority "
               "is above -200, behind a rule that accepts established connections";
    if (marks)
        return "accept established connections before it (`ct state established,related accept`, `-m "
               "conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`), but behind what gives their packets "
               "marks";
    if (isOfIptables(base) && base.family != RuleFamily::inet && base.family != RuleFamily::bridge)
        return fmt::format("accept established connections before it: `{} -t {} -I {} -m conntrack --ctstate "
                           "ESTABLISHED,RELATED -j ACCEPT`",
                           base.family == RuleFamily::ip6 ? "ip6tables" : "iptables", base.table, base.name);
    return fmt::format("accept established connections before it: `nft insert rule {} {} {} ct state "
                       "established,related accept`",
                       textOf(base.family), base.table, base.name);
}

std::string exemptHintFor(const RuleChain& base) {
    if (isOfIptables(base) && base.family != RuleFamily::inet && base.family != RuleFamily::bridge)
        return fmt::format("accept such packets before it: `{} -t {} -I {} -m conntrack --ctstate UNTRACKED "
                           "-j ACCEPT`",
                           base.family == RuleFamily::ip6 ? "ip6tables" : "iptables", base.table, base.name);
    return fmt::format("accept such packets before it: `nft insert rule {} {} {} ct state untracked accept`",
                       textOf(base.family), base.table, base.name);
}

/// `marks`: rules of that chain give packets marks.
RuleObstacle obstacleOf(const rules::Finding& finding, const RuleChain& base, std::uint8_t protocol,
                        bool marks) {
    RuleObstacle obstacle{finding.chain->family, finding.chain->table, finding.chain->name};
    if (finding.rule != nullptr) {
        obstacle.handle = finding.rule->handle;
        obstacle.rule = textOf(*finding.rule, *finding.chain);
    }
    obstacle.reason = finding.reason;
    obstacle.hint = hintFor(base, marks);
    (protocol == IPPROTO_TCP ? obstacle.tcp : obstacle.udp) = true;
    return obstacle;
}

/// What is in the way of packets that rules exempt from connection tracking.
RuleObstacle exemptObstacleOf(const rules::Finding& finding, const RuleChain& base, std::uint8_t protocol) {
    auto obstacle = obstacleOf(finding, base, protocol, false);
    obstacle.exempt = true;
    obstacle.reason = "for packets that are exempt from connection tracking: " + finding.reason;
    obstacle.hint = exemptHintFor(base);
    return obstacle;
}

/// The same rule may be in the way of both protocols.
void add(JudgedHook& judged, RuleObstacle obstacle) {
    if (obstacle.exempt) {
        judged.exemptTcp.steady &= !obstacle.tcp;
        judged.exemptUdp.steady &= !obstacle.udp;
    } else {
        judged.steadyForTcp &= !obstacle.tcp;
        judged.steadyForUdp &= !obstacle.udp;
    }
    const auto same = std::ranges::find_if(judged.obstacles, [&](const RuleObstacle& one) {
        return one.family == obstacle.family && one.table == obstacle.table && one.chain == obstacle.chain &&
               one.handle == obstacle.handle && one.reason == obstacle.reason &&
               one.exempt == obstacle.exempt;
    });
    if (same != judged.obstacles.end()) {
        same->tcp |= obstacle.tcp;
        same->udp |= obstacle.udp;
    } else if (judged.obstacles.size() < mostObstacles) {
        judged.obstacles.push_back(std::move(obstacle));
    } else {
        ++judged.moreObstacles;
    }
}

/// Rules that set connections' marks, wherever they are: a connection's packets pass several places, and in
/// both directions. Where two of them set different marks, it depends on the last packet what the next one
/// finds.
class Marking {
public:
    struct One {
        rules::MarkingRule rule;
        const RuleChain* base = nullptr;
        std::uint8_t protocol = 0;
        bool ipv6 = false;
        std::size_t place = 0; ///< its index
    };
    void add(const One& one) {
        all_.push_back(one);
        const auto& setting = one.rule.setting;
        auto& bits = bits_[{one.protocol, one.ipv6}];
        bits.set |= setting.value & setting.mask;
        bits.cleared |= ~setting.value & setting.mask;
    }

    void addAsking(std::uint8_t protocol, bool ipv6, std::size_t place) {
        asking_.insert({protocol, ipv6, place});
    }

    void judge(std::vector<JudgedHook>& hooks) const {
        for (const auto& one : all_) {
            const auto& bits = bits_.at({one.protocol, one.ipv6});
            if ((bits.set & bits.cleared & one.rule.setting.mask) != 0)
                assemble::add(hooks.at(one.place), obstacleOf({one.rule.chain, one.rule.rule,
                                                               "another rule sets the connection's mark to "
                                                               "something else"},
                                                              *one.base, one.protocol, true));
        }
        for (const auto& [protocol, ipv6, place] : asking_)
            if (bits_.contains({protocol, ipv6})) {
                std::set<std::string> looksAt(hooks.at(place).looksAt.begin(), hooks.at(place).looksAt.end());
                looksAt.insert("the connection's mark as it comes");
                hooks.at(place).looksAt.assign(looksAt.begin(), looksAt.end());
            }
    }

private:
    struct Bits {
        std::uint32_t set = 0;
        std::uint32_t cleared = 0;
    };
    std::map<std::pair<std::uint8_t, bool>, Bits> bits_; ///< by protocols
    std::set<std::tuple<std::uint8_t, bool, std::size_t>> asking_;
    std::vector<One> all_;
};

/// Of which protocols rules have exempted packets from connection tracking, by families. Places come in their
/// order.
using Exempting = std::set<std::pair<RuleFamily, std::uint8_t>>;

/// Judges one place.
class Judge {
public:
    Judge(const model::RuleSet& set, const rules::RuleDevice& loopback, const rules::Chains& chains,
          const rules::Surroundings& surroundings, Marking& marking, Exempting& exempting)
        : set_(set), loopback_(loopback), chains_(chains), surroundings_(surroundings), marking_(marking),
          exempting_(exempting) {}

    [[nodiscard]] JudgedHook judge(const rules::Place& place, std::size_t index) {
        judged_ = {};
        ends_ = {};
        index_ = index;
        judged_.packets = place.packets;
        judged_.hook = place.hook;
        looksAt_.clear();
        looksAtExempt_.clear();
        for (const auto* chain : rules::chainsAt(place, set_)) {
            const bool forNewOnly = chain->type == "nat" && place.packets != RuleFamily::bridge;
            judged_.chains.push_back(
                {chain->family, chain->table, chain->name, chain->type, chain->priority, forNewOnly});
            if (!forNewOnly)
                walk(place, *chain);
        }
        judged_.dropsInvalid = ends_.dropsAll();
        judged_.treatsInvalid = ends_.treatsSome();
        lookForLegacy(place);
        lookForOthers(place);
        judged_.looksAt.assign(looksAt_.begin(), looksAt_.end());
        judged_.looksAtExempt.assign(looksAtExempt_.begin(), looksAtExempt_.end());
        return std::move(judged_);
    }

private:
    void walk(const rules::Place& place, const RuleChain& base) {
        for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
            for (const bool ipv6 : {false, true}) {
                if ((place.packets == RuleFamily::ip && ipv6) || (place.packets == RuleFamily::ip6 && !ipv6))
                    continue;
                const bool tracked = rules::isTracked(base) && tracksConnections(place.packets, set_);
                const AbstractPacket packet{.bridged = place.packets == RuleFamily::bridge,
                                            .ipv6 = ipv6,
                                            .protocol = protocol,
                                            .tracked = tracked};
                rules::Walk walk(packet, chains_, surroundings_);
                walk.base(base);
                looksAt_.insert(walk.looksAt().begin(), walk.looksAt().end());
                judged_.asksConnectionMark |= walk.asksConnectionMark();
                (protocol == IPPROTO_TCP ? judged_.finishesTcp : judged_.finishesUdp) |= walk.mayBeFinished();
                judged_.marksTcp |= protocol == IPPROTO_TCP && walk.mayBeMarked();
                for (const auto& finding : walk.findings())
                    add(judged_, obstacleOf(finding, base, protocol, walk.mayBeMarked()));
                if (walk.asksConnectionMark())
                    marking_.addAsking(protocol, ipv6, index_);
                for (const auto& one : walk.marking())
                    marking_.add({one, &base, protocol, ipv6, index_});
                if (place.packets != RuleFamily::bridge && tracksConnections(place.packets, set_))
                    walkExempt(place, base, packet, walk);
            }
        }
        walkInvalid(place, base);
    }

    [[nodiscard]] JudgedExempt& exemptOf(std::uint8_t protocol) {
        return protocol == IPPROTO_TCP ? judged_.exemptTcp : judged_.exemptUdp;
    }

    /// Packets that rules exempt from connection tracking: in front of it, what is known of a packet is the
    /// same, whether it will be tracked or not (`walked`); behind it, it is another one.
    void walkExempt(const rules::Place& place, const RuleChain& base, AbstractPacket packet,
                    const rules::Walk& walked) {
        auto& exempt = exemptOf(packet.protocol);
        if (!packet.tracked) {
            exempt.steady &= walked.findings().empty();
            looksAtExempt_.insert(walked.looksAt().begin(), walked.looksAt().end());
            if (!walked.exempting().empty() && !rules::meetsInvalid(base)) {
                exempt.begins = true;
                exempting_.emplace(place.packets, packet.protocol);
            }
        }
        if (!exempting_.contains({place.packets, packet.protocol}))
            return;
        if (rules::meetsInvalid(base))
            walkExemptedLate(base, packet);
        if (!packet.tracked)
            return;
        packet.tracked = false;
        packet.exempt = true;
        rules::Walk walk(packet, chains_, surroundings_);
        walk.base(base);
        looksAtExempt_.insert(walk.looksAt().begin(), walk.looksAt().end());
        (packet.protocol == IPPROTO_TCP ? judged_.finishesTcp : judged_.finishesUdp) |= walk.mayBeFinished();
        for (const auto& finding : walk.findings())
            add(judged_, exemptObstacleOf(finding, base, packet.protocol));
    }

    /// What connection tracking has called invalid looks as if it had been exempted before.
    void walkExemptedLate(const RuleChain& base, AbstractPacket packet) {
        packet.tracked = false;
        packet.invalid = true;
        rules::Walk walk(packet, chains_, surroundings_);
        walk.base(base);
        for (auto late : walk.exempting()) {
            late.reason = "it exempts packets that connection tracking has seen and calls invalid";
            add(judged_, exemptObstacleOf(late, base, packet.protocol));
        }
    }

    /// What is not known to drop or to pass all of them does neither.
    void walkInvalid(const rules::Place& place, const RuleChain& base) {
        const AbstractPacket packet{.bridged = place.packets == RuleFamily::bridge,
                                    .ipv6 = place.packets == RuleFamily::ip6,
                                    .protocol = IPPROTO_TCP,
                                    .invalid = true,
                                    .notFrom = &loopback_};
        rules::Walk walk(packet, chains_, surroundings_);
        walk.base(base);
        if (rules::meetsInvalid(base)) {
            ends_.note(walk, base);
            judged_.passesInvalid &= !walk.mayBeDropped();
        }
        // By what is the same in all packets of a flow, those of one that is tracked are not exempted.
        const bool byFlow = rules::exemptsInTime(base) && !walk.asksKind();
        judged_.maskInvalid |= walk.mayBeRezoned() || (!walk.exempting().empty() && !byFlow);
    }

    void addForAll(RuleFamily family, std::string table, std::string reason, std::string hint) {
        RuleObstacle obstacle{family, std::move(table)};
        obstacle.reason = std::move(reason);
        obstacle.hint = std::move(hint);
        obstacle.tcp = obstacle.udp = true;
        add(judged_, std::move(obstacle));
        judged_.exemptTcp.steady = judged_.exemptUdp.steady = false;
        judged_.meetsOthers = true;
    }

    /// Its rules change without notice: neither is there a generation, nor can their number be seen.
    void lookForLegacy(const rules::Place& place) {
        const auto prefix = textOf(place.packets) + ' ';
        for (const auto& name : set_.legacyTables)
            if (name.starts_with(prefix))
                addForAll(place.packets, name.substr(prefix.size()),
                          "a table of iptables-legacy: its rules change without the kernel telling",
                          "use iptables-nft instead (`update-alternatives --config iptables`), and load the "
                          "rules anew");
    }

    void lookForOthers(const rules::Place& place) {
        if (!set_.functions)
            return addForAll(place.packets, "", "it is not known which functions netfilter calls here",
                             "the kernel lists them if it has CONFIG_NETFILTER_NETLINK_HOOK (since 5.14)");
        for (const auto& one : *set_.functions)
            if (one.family == place.packets && one.hook == place.hook && rules::mayTreatFlowsUnalike(one)) {
                auto words = rules::wordsFor(one);
                addForAll(one.family, "", std::move(words.reason), std::move(words.hint));
            }
    }

    const model::RuleSet& set_;
    const rules::RuleDevice& loopback_;
    const rules::Chains& chains_;
    const rules::Surroundings& surroundings_;
    Marking& marking_;
    Exempting& exempting_;
    JudgedHook judged_;
    rules::Ends ends_;      ///< of what is invalid
    std::size_t index_ = 0; ///< of the place
    std::set<std::string> looksAt_;
    std::set<std::string> looksAtExempt_;
};
} // namespace

bool tracksConnections(RuleFamily family, const model::RuleSet& set) {
    if (family == RuleFamily::bridge || !set.functions)
        return true;
    const std::string_view tracking = family == RuleFamily::ip6 ? "ipv6_conntrack_in" : "ipv4_conntrack_in";
    return std::ranges::any_of(*set.functions, [&](const model::HookFunction& one) {
        return one.family == family && (one.function == tracking || one.function.empty());
    });
}

std::vector<JudgedHook> judgeRules(const model::RuleSet& set, const rules::RuleDevice& loopback) {
    const rules::Chains chains(set);
    const rules::Surroundings surroundings(set);
    std::vector<JudgedHook> hooks;
    Marking marking;
    Exempting exempting;
    for (const auto& place : rules::forwardPlaces())
        hooks.push_back(
            Judge(set, loopback, chains, surroundings, marking, exempting).judge(place, hooks.size()));
    marking.judge(hooks);
    return hooks;
}

} // namespace tna::assemble
