// SPDX-License-Identifier: Apache-2.0
#include "tnactl/render_rules.hpp"

#include "tnactl/document.hpp"
#include "tnactl/table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace tna::ctl {

namespace {
using nlohmann::json;

using Names = std::initializer_list<std::pair<const char*, const char*>>;
/// The words for those names that are true.
std::string wordsFor(const json& steady, const Names& names) {
    std::vector<std::string> flows;
    for (const auto& [name, words] : names)
        if (yes(steady, name))
            flows.emplace_back(words);
    return fmt::format("{}", fmt::join(flows, ", "));
}

/// What is learnt of one protocol.
std::string learntText(const json& steady) {
    const auto flows =
        wordsFor(steady, {{"udp", "UDP"}, {"tcp", "TCP"}, {"translated_tcp", "translated TCP"}});
    const auto exempt = wordsFor(steady, {{"exempt_udp", "UDP"}, {"exempt_tcp", "TCP"}});
    auto out = flows.empty()                   ? "none, because the rules are not steady"
               : steady.value("tracked", true) ? flows
                                               : flows + "; nobody tracks connections";
    if (!exempt.empty())
        out += "; exempt from connection tracking: " + exempt;
    return out;
}

/// What is in the way that is no rule's alone, of these packets or of all others.
std::string becauseText(const json& learning, bool ofBridges) {
    std::string out;
    for (const auto& because : list(learning, "because"))
        if ((text(because, "packets") == "bridge") == ofBridges)
            out += fmt::format("  {}: {}\n    {}\n", text(because, "packets"), text(because, "reason"),
                               text(because, "hint"));
    return out;
}

/// What rules of bridges mean, if there are any.
std::string bridgesText(const json& learning) {
    const auto bridge = learning.value("bridge", json());
    if (!bridge.is_object())
        return {};
    if (const auto impossible = text(bridge, "impossible"); !impossible.empty())
        return fmt::format("Packets that pass rules of bridges (family bridge) are left to Linux: {}\n",
                           impossible);
    return fmt::format("Flows that rules of bridges (family bridge) let pass are learnt.\n  bridged: {}\n{}",
                       learntText(bridge), becauseText(learning, true));
}

/// Whether rules may have the addresses of a protocol's packets translated.
bool translates(const json& document, std::string_view packets) {
    return std::ranges::any_of(list(document, "hooks"), [&](const json& hook) {
        return text(hook, "packets") == packets &&
               std::ranges::any_of(list(hook, "chains"),
                                   [](const json& chain) { return yes(chain, "new_only"); });
    });
}

/// What rules of IP mean.
std::string ipText(const json& document, const json& learning) {
    if (const auto impossible = text(learning, "impossible"); !impossible.empty())
        return fmt::format("Packets that pass rules are left to Linux: {}\n", impossible);
    if (!yes(learning, "active") && learning.value("bridge", json()).is_object())
        return {};
    if (!yes(learning, "active"))
        return "Nothing is learnt: there are no rules, or no two accelerated devices that packets "
               "pass them between (`tnactl status`).\n";
    const auto ipv4 = learning.value("ip", json::object()), ipv6 = learning.value("ip6", json::object());
    auto out = fmt::format("Flows that these rules let pass are learnt.\n  IPv4: {}\n  IPv6: {}\n",
                           learntText(ipv4), learntText(ipv6));
    out += becauseText(learning, false);
    const auto withoutTranslated = [&](const json& steady, std::string_view packets) {
        return yes(steady, "tcp") && !yes(steady, "translated_tcp") && steady.value("tracked", true) &&
               translates(document, packets);
    };
    std::vector<std::string_view> untranslated;
    if (withoutTranslated(ipv4, "ip"))
        untranslated.emplace_back("IPv4");
    if (withoutTranslated(ipv6, "ip6"))
        untranslated.emplace_back("IPv6");
    if (!untranslated.empty())
        out += fmt::format(
            "TCP over {} that is translated (NAT) is left to Linux, unless the rules drop what connection "
            "tracking calls\ninvalid, both where it is forwarded and where it is for this host; this one "
            "does for both:\n  nft 'table inet early {{ chain invalid {{ type filter hook prerouting "
            "priority "
            "-150; ct state invalid drop; }}; }}'\nOr nothing is called so (`sysctl "
            "net.netfilter.nf_conntrack_tcp_be_liberal=1 "
            "net.netfilter.nf_conntrack_tcp_ignore_invalid_rst=1`).\n",
            fmt::join(untranslated, " and "));
    const auto withoutMarked = [](const json& steady) {
        return yes(steady, "tcp") && !steady.value("tcp_by_mark", true) && steady.value("tracked", true);
    };
    if (withoutMarked(ipv4) || withoutMarked(ipv6))
        out += "Rules put marks on TCP before it is routed. Where there are routing rules (`ip rule`), it is "
               "left to "
               "Linux, unless\nwhat connection tracking calls invalid is dropped at pre-routing (`ct state "
               "invalid "
               "drop`).\n";
    return out;
}

/// What the rules mean for the fast path.
std::string learningText(const json& document) {
    const auto learning = document.is_object() ? document.value("learning", json()) : json();
    if (!learning.is_object())
        return "Packets that pass rules are left to Linux: `connections` under [limits] of the configuration "
               "is 0.\n";
    return ipText(document, learning) + bridgesText(learning);
}

std::string chainsOf(const json& hook) {
    std::vector<std::string> chains;
    for (const auto& chain : list(hook, "chains"))
        chains.push_back(fmt::format("{} {} {}{}", text(chain, "family"), text(chain, "table"),
                                     text(chain, "chain"),
                                     yes(chain, "new_only") ? " (new connections only)" : ""));
    return fmt::format("{}", fmt::join(chains, ", "));
}

std::string obstacleText(const json& hook, const json& obstacle) {
    const auto handle = text(obstacle, "handle");
    auto out = fmt::format("{} {}: {}", text(hook, "packets"), text(hook, "hook"), text(obstacle, "family"));
    for (const char* part : {"table", "chain"})
        if (const auto name = text(obstacle, part); !name.empty())
            out += " " + name;
    if (!handle.empty())
        out += fmt::format(", handle {}: {}", handle, text(obstacle, "rule"));
    std::vector<std::string> protocols;
    for (const auto& protocol : list(obstacle, "protocols"))
        if (protocol.is_string())
            protocols.push_back(protocol.get<std::string>());
    out += fmt::format(
        "\n  {}{}\n", text(obstacle, "reason"),
        protocols.size() == 1 ? fmt::format(" (of {} only)", text(json{{"p", protocols[0]}}, "p")) : "");
    if (const auto hint = text(obstacle, "hint"); !hint.empty())
        out += fmt::format("    {}\n", hint);
    return out;
}

std::string otherFacts(const json& document) {
    std::string out;
    for (const auto& table : list(document, "flowtables"))
        out += fmt::format(
            "There is a flowtable: {} {} {}. What is in it passes no rules; `tnactl explain PORT` "
            "says why packets of its ports are not fast.\n",
            text(table, "family"), text(table, "table"), text(table, "name"));
    if (document.is_object() && document.value("functions", json()).is_null())
        out += "Whom else netfilter calls is not known: this kernel does not list it "
               "(CONFIG_NETFILTER_NETLINK_HOOK).\n";
    return out;
}
} // namespace

std::string renderRules(const json& document) {
    const auto unknown = document.is_object() ? document.value("unknown", json()) : json();
    if (unknown.is_object())
        return fmt::format("The rule sets are not known: {} {}\n  {}\n", text(unknown, "what"),
                           text(unknown, "cause"), text(unknown, "hint"));
    auto out = fmt::format("{} rules in {} chains of {} tables, {} sets, generation {}\n{}\n",
                           text(document, "rules"), text(document, "chains"), text(document, "tables"),
                           text(document, "sets"), text(document, "generation"), learningText(document));
    Table table{{"PACKETS", "HOOK", "TCP", "UDP", "LOOKS AT", "CHAINS"}};
    std::string obstacles;
    for (const auto& hook : list(document, "hooks")) {
        const auto steady = hook.is_object() ? hook.value("steady", json::object()) : json::object();
        std::vector<std::string> fields;
        for (const auto& field : list(hook, "looks_at"))
            if (field.is_string())
                fields.push_back(field.get<std::string>());
        table.add({text(hook, "packets"), text(hook, "hook"), yes(steady, "tcp") ? "steady" : "not steady",
                   yes(steady, "udp") ? "steady" : "not steady", fmt::format("{}", fmt::join(fields, ", ")),
                   chainsOf(hook)});
        for (const auto& obstacle : list(hook, "in_the_way"))
            obstacles += obstacleText(hook, obstacle);
        if (const auto more = number(hook, "more_in_the_way"); more > 0)
            obstacles += fmt::format("{} {}: and {} more\n", text(hook, "packets"), text(hook, "hook"), more);
    }
    out += table.text();
    if (!obstacles.empty())
        out += "\nIn the way:\n" + obstacles;
    if (const auto facts = otherFacts(document); !facts.empty())
        out += "\n" + facts;
    return out;
}

} // namespace tna::ctl
