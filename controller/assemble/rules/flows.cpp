// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/flows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <linux/netfilter.h>
#include <ranges>
#include <utility>

namespace tna::assemble {

namespace {
using model::RuleFamily;
using std::string_view_literals::operator""sv;

/// The priorities of the programs that learn, at pre-routing and post-routing: nothing may come before the
/// first, and nothing but what confirms new connections behind the last.
constexpr auto first = std::numeric_limits<std::int32_t>::min() + 1;
constexpr auto last = std::numeric_limits<std::int32_t>::max() - 1;

/// What a fast path compares for each packet, or what is the same for all packets that it forwards, because
/// they are for its own MAC address. Nothing in the kernel says that a route of IPv6 has gone.
bool isCompared(std::string_view field, RuleFamily family) {
    return field == "DSCP and ECN" || field == "traffic class and flow label" || field == "packet type" ||
           (field == "routes" && family == RuleFamily::ip);
}

std::vector<std::string> notCompared(const std::vector<std::string>& fields, RuleFamily family) {
    std::vector<std::string> left;
    std::ranges::copy_if(fields, std::back_inserter(left),
                         [&](const std::string& field) { return !isCompared(field, family); });
    return left;
}

/// Runs where those that learn do not see what comes of it.
bool outside(const model::HookFunction& one) {
    if (one.hook == NF_INET_PRE_ROUTING && (one.priority <= first || one.priority >= last))
        return one.ofTables;
    return one.hook == NF_INET_POST_ROUTING && one.priority >= last && one.function != "nf_confirm";
}

RuleObstacle unseen(const model::HookFunction& one) {
    RuleObstacle obstacle{.family = one.family, .tcp = true, .udp = true};
    obstacle.reason = fmt::format(
        "a function with the priority {} is called before or behind those that learn", one.priority);
    obstacle.hint = "give the chain another priority";
    return obstacle;
}

RuleObstacle looking(RuleFamily family, const std::vector<std::string>& fields) {
    RuleObstacle obstacle{.family = family, .tcp = true, .udp = true};
    obstacle.reason = fmt::format("rules look at what may differ between the packets of a flow: {}",
                                  fmt::join(fields, ", "));
    const auto place = "LOOKS AT of `tnactl rules` names the place"sv;
    if (family == RuleFamily::bridge)
        obstacle.hint = fmt::format(
            "{}; rules of bridges may ask for addresses, ports, devices and MAC addresses", place);
    else if (family == RuleFamily::ip6 && std::ranges::find(fields, "routes") != fields.end())
        obstacle.hint = fmt::format("take the reverse path filter of IPv6 out of the rules (firewalld: "
                                    "IPv6_rpfilter=no in firewalld.conf), or accept established connections "
                                    "before it; {}",
                                    place);
    else
        obstacle.hint = fmt::format("accept established connections before those rules; {}", place);
    return obstacle;
}

RuleObstacle lookingAtExempt(RuleFamily family, const std::vector<std::string>& fields) {
    auto obstacle = looking(family, fields);
    obstacle.exempt = true;
    obstacle.reason = "for packets that are exempt from connection tracking: " + obstacle.reason;
    obstacle.hint = "exempt them by rules that do not, and accept them (`ct state untracked`) before those";
    return obstacle;
}

/// Packets that rules exempt from connection tracking.
void judgeExempt(RuleFamily family, const std::vector<JudgedHook>& judged, FlowRules& rules,
                 std::vector<RuleObstacle>& obstacles) {
    bool steadyTcp = true, steadyUdp = true, begins = false;
    for (const auto& hook : judged) {
        if (hook.packets != family)
            continue;
        const auto fields = notCompared(hook.looksAtExempt, family);
        steadyTcp &= hook.exemptTcp.steady && fields.empty();
        steadyUdp &= hook.exemptUdp.steady && fields.empty();
        rules.exemptTcp |= hook.exemptTcp.begins;
        rules.exemptUdp |= hook.exemptUdp.begins;
        begins |= rules.exemptTcp || rules.exemptUdp;
        if (begins && !fields.empty())
            obstacles.push_back(lookingAtExempt(family, fields));
    }
    rules.exemptTcp &= steadyTcp;
    rules.exemptUdp &= steadyUdp;
}

std::string wordsFor(const InvalidWay& way) {
    return way.to ? fmt::format("from {} to {}", way.from.name, way.to->name) : "from " + way.from.name;
}

constexpr std::size_t mostNamed = 8;

RuleObstacle uncertain(RuleFamily family, const std::vector<InvalidWay>& known) {
    RuleObstacle obstacle{.family = family, .tcp = true};
    std::vector<std::string> words;
    std::ranges::transform(known | std::views::take(mostNamed), std::back_inserter(words), wordsFor);
    if (known.size() > mostNamed)
        words.push_back(fmt::format("and {} other ways", known.size() - mostNamed));
    obstacle.reason = fmt::format("what becomes of packets of TCP that connection tracking calls invalid "
                                  "depends on more than that{}{}",
                                  known.empty() ? "" : "; it is known ", fmt::join(words, ", "));
    obstacle.hint = "drop them first (`ct state invalid drop`), or have none called so "
                    "(`sysctl net.netfilter.nf_conntrack_tcp_be_liberal=1`)";
    return obstacle;
}

void judgeFamily(RuleFamily family, const model::RuleSet& set, const std::vector<JudgedHook>& judged,
                 const SpecialDevices& devices, FlowRules& rules, std::vector<RuleObstacle>& obstacles) {
    rules.tcp = rules.udp = true;
    bool dropped = false, passed = true, masked = false, early = false, someEarly = false, treated = false;
    for (const auto& hook : judged) {
        if (hook.packets != family)
            continue;
        dropped |= hook.dropsInvalid && !treated; // places come in their order
        treated |= hook.treatsInvalid;
        rules.asksConnectionMark |= hook.asksConnectionMark;
        rules.finishesTcp |= hook.finishesTcp;
        rules.finishesUdp |= hook.finishesUdp;
        rules.tcpMarkedEarly |= hook.marksTcp && hook.hook == NF_INET_PRE_ROUTING;
        early |= hook.dropsInvalid && hook.hook == NF_INET_PRE_ROUTING;
        someEarly |= !hook.passesInvalid && hook.hook == NF_INET_PRE_ROUTING;
        rules.invalidDroppedForHost &= hook.hook != NF_INET_PRE_ROUTING || !hook.treatsInvalid;
        masked |= hook.maskInvalid || hook.meetsOthers;
        passed &= hook.passesInvalid;
        const auto fields = notCompared(hook.looksAt, hook.packets);
        rules.tcp &= hook.steadyForTcp && fields.empty();
        rules.udp &= hook.steadyForUdp && fields.empty();
        obstacles.insert(obstacles.end(), hook.obstacles.begin(), hook.obstacles.end());
        if (!fields.empty())
            obstacles.push_back(looking(family, fields));
    }
    rules.untracked = !tracksConnections(family, set);
    if (rules.untracked) // nobody calls packets invalid
        rules.invalid = Invalid::passed;
    else if ((dropped || passed) && !masked)
        rules.invalid = dropped ? Invalid::dropped : Invalid::passed;
    rules.invalidDroppedEarly = early && rules.invalid == Invalid::dropped;
    rules.invalidSomeEarly = someEarly && rules.invalid == Invalid::dropped;
    rules.asksDevices = rules.invalid == Invalid::depends && !masked;
    judgeExempt(family, judged, rules, obstacles);
    if (rules.untracked) { // whether rules exempt them or not
        rules.exemptTcp = rules.tcp;
        rules.exemptUdp = rules.udp;
    }
    // Also where TCP is not steady any more: connections have been fast, and go on.
    auto ways =
        rules.asksDevices ? InvalidJudge(set, family).ways(devices.others) : InvalidWays{.all = false};
    rules.invalidWays = std::move(ways.known);
    if (rules.tcp && rules.invalid == Invalid::depends && !ways.all)
        obstacles.push_back(uncertain(family, rules.invalidWays));
    for (const auto& one : *set.functions)
        if (one.family == family && outside(one)) {
            rules.tcp = rules.udp = rules.exemptTcp = rules.exemptUdp = false;
            obstacles.push_back(unseen(one));
        }
}

/// What is the same in a lesson, or in all packets that bridges of theirs forward.
bool isComparedByBridges(std::string_view field) {
    return field == "MAC addresses" || field == "DSCP and ECN" || field == "traffic class and flow label";
}

/// Connections of packets that pass bridges only are not looked at (nf_conntrack_bridge).
bool tracksForBridges(const model::HookFunction& one) {
    return one.family == RuleFamily::bridge && one.function.starts_with("nf_ct_bridge");
}

RuleObstacle trackedByBridges() {
    RuleObstacle obstacle{.family = RuleFamily::bridge, .tcp = true, .udp = true};
    obstacle.reason = "rules of bridges ask for connections, or had them tracked";
    obstacle.hint = "ask for addresses, ports, devices and MAC addresses only (`ct` in no rule of the family "
                    "bridge)";
    return obstacle;
}

/// What frames pass that come by one port and leave by another one.
bool isPassedBetweenPorts(const JudgedHook& hook) {
    return hook.packets == RuleFamily::bridge &&
           (hook.hook == NF_INET_PRE_ROUTING || hook.hook == NF_INET_FORWARD ||
            hook.hook == NF_INET_POST_ROUTING);
}

/// Whether connection tracking sees packets that pass bridges only, which those that learn do not: windows of
/// which one side is bridged and the other one is routed are known to neither. Not only `ct` has it do so,
/// but `ct count`, helpers and timeouts, too (nf_ct_netns_get()).
bool tracksBridged(const model::RuleSet& set) {
    return std::ranges::any_of(*set.functions, tracksForBridges) ||
           std::ranges::any_of(set.chains, [](const model::RuleChain& chain) {
               return chain.family == RuleFamily::bridge &&
                      std::ranges::any_of(chain.rules, [](const model::FilterRule& rule) {
                          return std::ranges::any_of(rule.expressions,
                                                     [](const auto& one) { return one.kind == "ct"; });
                      });
           });
}

RuleObstacle bridged() {
    RuleObstacle obstacle{.family = RuleFamily::bridge, .tcp = true};
    obstacle.reason =
        "rules for bridges ask for connections, so that packets are tracked which no router sees";
    return obstacle;
}

BridgeRules judgeBridges(const model::RuleSet& set, const std::vector<JudgedHook>& judged,
                         const FunctionPlaces& functions) {
    BridgeRules rules{.tcp = true, .udp = true, .functions = functions, .obstacles = {}};
    for (const auto& hook : judged) {
        if (!isPassedBetweenPorts(hook))
            continue;
        std::vector<std::string> fields;
        std::ranges::remove_copy_if(hook.looksAt, std::back_inserter(fields), isComparedByBridges);
        rules.tcp &= fields.empty() && hook.steadyForTcp;
        rules.udp &= fields.empty() && hook.steadyForUdp;
        std::ranges::copy(hook.obstacles, std::back_inserter(rules.obstacles));
        if (!fields.empty())
            rules.obstacles.push_back(looking(RuleFamily::bridge, fields));
    }
    if (tracksBridged(set)) {
        rules.tcp = rules.udp = false;
        rules.obstacles.push_back(trackedByBridges());
    }
    rules.calls = std::ranges::any_of(*set.functions, [](const model::HookFunction& one) {
        return one.family == RuleFamily::bridge && one.function.starts_with("br_nf_");
    });
    return rules;
}

RuleObstacle unlisted() {
    RuleObstacle obstacle{.tcp = true, .udp = true};
    obstacle.reason = "it is not known which functions netfilter calls";
    return obstacle;
}
} // namespace

RuleJudgement judgeForFlows(RulesInPlace rules, const std::set<std::uint32_t>& own,
                            const SpecialDevices& devices) {
    RuleJudgement judgement{.generation = rules.set.generation};
    if (!rules.set.functions || rules.set.generation == 0) {
        judgement.obstacles.push_back(unlisted());
        return judgement;
    }
    judgement.ipv4.functions = rules.ipv4;
    judgement.ipv6.functions = rules.ipv6;
    std::erase_if(*rules.set.functions, [&](const model::HookFunction& one) {
        return one.program != 0 && own.contains(one.program);
    });
    const auto judged = judgeRules(rules.set, devices.loopback);
    judgement.ipv4.invalidDroppedForHost =
        InvalidJudge(rules.set, RuleFamily::ip).droppedForHost(devices.loopback);
    judgeFamily(RuleFamily::ip, rules.set, judged, devices, judgement.ipv4, judgement.obstacles);
    judgeFamily(RuleFamily::ip6, rules.set, judged, devices, judgement.ipv6, judgement.obstacles);
    judgement.bridge = judgeBridges(rules.set, judged, rules.bridge);
    if (tracksBridged(rules.set)) {
        judgement.ipv4.tcp = judgement.ipv6.tcp = false;
        judgement.ipv4.exemptTcp = judgement.ipv6.exemptTcp = false;
        judgement.obstacles.push_back(bridged());
    }
    return judgement;
}

} // namespace tna::assemble
