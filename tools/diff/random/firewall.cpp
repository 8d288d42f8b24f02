// SPDX-License-Identifier: Apache-2.0
// Routers with rules, and connections that pass them: both change, and the rest does now and then.
#include "diff/random/bridging.hpp"
#include "diff/random/conversations.hpp"
#include "diff/random/extension.hpp"
#include "diff/random/rules.hpp"
#include "diff/random/translations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tna::diff {

namespace {
/// So that no connection is over before the case is; no two alike: it shows which state it is in.
constexpr const char* longLives =
    "n={}; for i in /proc/sys/net/netfilter/nf_conntrack_*_timeout* "
    "/proc/sys/net/netfilter/nf_conntrack_frag6_timeout "
    "/proc/sys/net/ipv4/ipfrag_time; do [ ! -w $i ] || echo $n > $i; n=$((n + 37)); done";

std::string quoted(const std::string& words) {
    return "nft '" + words + "'";
}

/// All of them; or, where the kernel does not know one of them, the others.
std::string all(const std::vector<std::string>& lines) {
    std::string alone;
    for (const auto& line : lines)
        alone += fmt::format("{} 2>/dev/null; ", quoted(line));
    return fmt::format("{} 2>/dev/null || {{ {}true; }}", quoted(fmt::format("{}", fmt::join(lines, "; "))),
                       alone);
}

class FirewallScenario : public Extension {
public:
    FirewallScenario(Chance& chance, std::unique_ptr<Scenario> base, bool translates = false)
        : Extension(chance, std::move(base)), translates_(translates) {}

    std::unique_ptr<Source> source() override {
        auto made = std::make_unique<Conversations>(chance_, topology(), translates_);
        conversations_ = made.get();
        return made;
    }
    [[nodiscard]] unsigned connections() const override { return connections_; }
    /// Flows are learnt anew after each change.
    [[nodiscard]] Pace pace() const override { return {.changes = 8, .unheard = 6, .late = 40}; }

private:
    /// Bridges have the rules called; most often for both protocols.
    void callRules(std::vector<std::string>& lines) {
        calls_ = true;
        lines.push_back(callsWords("iptables", !chance_.once(6)));
        lines.push_back(callsWords("ip6tables", !chance_.once(6)));
    }

    std::vector<std::string> more() override {
        connections_ = chance_.once(10) ? 16 : 65536;
        topology().spread = {.newFlow = 20, .far = 4, .fromFar = 0};
        std::vector<std::string> lines;
        bridged_ = topology().devices.empty() && topology().gateways.size() == 1;
        const bool overBridges = std::ranges::any_of(
            topology().devices, [](const auto& device) { return device.starts_with("br"); });
        if (bridged_)
            topology().gateways = {std::nullopt};
        if (bridged_ || (overBridges && !chance_.once(3)))
            callRules(lines);
        if (!bridged_ && chance_.once(2))
            for (const char* device : {"all", "p0", "p1", "p2", "p3"})
                if (chance_.once(2))
                    lines.push_back(
                        fmt::format("sysctl -qw net.ipv4.conf.{}.rp_filter={}", device, chance_.below(3)));
        style_ = chance_.below(10);
        steady_ = !chance_.once(4);
        tracked_ = style_ >= 7 || translates_ || !chance_.once(4);
        if (style_ < 7)
            nftables(lines);
        else
            iptables(lines);
        if (translates_ || (chance_.once(6) && !bridged_ && tracked_))
            lines.push_back(masquerade());
        dropped_ =
            chance_.oneOf({InvalidDropped::notAll, InvalidDropped::early, InvalidDropped::whereverItGoes});
        if (translates_)
            lines.push_back(all(translationRules(topology(), dropped_)));
        // They are there when something is tracked. Where Linux is strict, what it makes of segments beyond
        // the windows depends on when tnad told it not to mind them.
        lines.emplace_back("sysctl -qw net.netfilter.nf_conntrack_tcp_be_liberal=1 2>/dev/null || true");
        lines.push_back(fmt::format(fmt::runtime(longLives), chance_.oneOf({600, 1000, 100000})));
        exempt(lines);
        for (unsigned i = chance_.below(3); i > 0; i--)
            lines.push_back(setting());
        return lines;
    }

    /// Exempts flows from connection tracking: drawn aside, so that all else is drawn as it would be without.
    void exempt(std::vector<std::string>& lines) {
        constexpr std::uint64_t another = 0x6e6f747261636b;
        Chance aside{Chance{chance_}.number() ^ another};
        if (!tracked_ || translates_ || !aside.once(5))
            return;
        lines.push_back(all(Rules{aside, topology(), true}.exemptions()));
        if (!aside.once(4))
            lines.push_back(style_ < 7 ? quoted("insert rule inet fw forward ct state untracked accept")
                                       : Rules::acceptUntracked);
    }

    void nftables(std::vector<std::string>& lines) {
        lines.push_back(quoted("add table inet fw"));
        std::vector<std::string> objects;
        for (const auto& set : Rules::sets()) // "set NAME {...}" is added by "add set inet fw NAME {...}"
            objects.push_back(fmt::format("add {} inet fw {}", set.substr(0, set.find(' ')),
                                          set.substr(set.find(' ') + 1)));
        lines.push_back(all(objects));
        if (tracked_)
            lines.push_back(all({"add ct helper inet fw ftp { type \"ftp\" protocol tcp; }",
                                 "add ct timeout inet fw long { protocol udp; policy = { unreplied : 500, "
                                 "replied : 900 }; }"}));
        lines.push_back(all({"add chain inet fw c1", "add chain inet fw c2"}));
        accepts_ = !chance_.once(2);
        lines.push_back(quoted(
            fmt::format("add chain inet fw forward {{ type filter hook forward priority {}; policy {}; }}",
                        chance_.oneOf({"0", "-10", "filter"}), accepts_ ? "accept" : "drop")));
        std::vector<std::string> rules;
        const auto established =
            !tracked_
                ? "meta l4proto udp counter"
                : chance_.oneOf({"ct state established accept", "ct state established,related accept",
                                 "ct state vmap { established : accept, related : accept, invalid : drop }",
                                 "ct state established,related counter accept"});
        const auto place = chance_.once(2) ? 0U : chance_.below(6);
        const bool lost = chance_.once(8); // all rules are for all packets
        for (unsigned i = 0, count = 2 + chance_.below(8); i < count; i++) {
            if (i == place && !lost)
                rules.push_back("add rule inet fw forward " + established);
            rules.push_back("add rule inet fw forward " + drawn(steady_ && (i < place || lost)).rule());
        }
        if (!accepts_) // else nothing passes
            rules.push_back(fmt::format(
                "add rule inet fw forward {}",
                !tracked_
                    ? "accept"
                    : chance_.oneOf({"ct state new,established accept", "accept",
                                     "ct state established accept", "ct state established,related accept",
                                     "ct state new udp dport { 53, 443, 80 } accept"})));
        for (const char* chain : {"c1", "c2"})
            for (unsigned i = chance_.below(3); i > 0; i--)
                rules.push_back(fmt::format("add rule inet fw {} {}", chain, drawn(steady_).rule(false)));
        lines.push_back(all(rules));
        struct Place {
            const char *hook, *priority;
        };
        for (const auto& [hook, priority] :
             {Place{"prerouting", "-300"}, {"prerouting", "-150"}, {"postrouting", "0"}, {"input", "0"}}) {
            if (!chance_.once(4))
                continue;
            const auto chain = fmt::format("{}{}", hook, *priority == '-' ? priority + 1 : priority);
            std::vector<std::string> more{fmt::format(
                "add chain inet fw {} {{ type filter hook {} priority {}; }}", chain, hook, priority)};
            for (unsigned i = 1 + chance_.below(2); i > 0; i--)
                more.push_back(fmt::format("add rule inet fw {} {}", chain,
                                           *hook == 'p' && priority[0] == '-'
                                               ? drawn(steady_).early(!translates_)
                                               : drawn(steady_).rule()));
            lines.push_back(all(more));
        }
    }

    /// Where there is no iptables-nft, there are no rules.
    void iptables(std::vector<std::string>& lines) {
        for (const bool six : {false, true}) {
            const std::string name = six ? "ip6tables-nft" : "iptables-nft";
            std::string words = fmt::format("! command -v {} >/dev/null || {{ {} -N c1; ", name, name);
            const auto add = [&](const std::string& chain, const std::string& rule) {
                words += fmt::format("{} -A {} {} 2>/dev/null; ", name, chain, rule);
            };
            const auto place = chance_.once(2) ? 0U : chance_.below(6);
            for (unsigned i = 0, count = 2 + chance_.below(5); i < count; i++) {
                if (i == place)
                    add("FORWARD", "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT");
                add("FORWARD", drawn(steady_ && i < place).iptables(six));
            }
            if (chance_.once(2))
                add("c1", drawn(steady_).iptables(six));
            if (chance_.once(3)) {
                add("FORWARD", "-m conntrack --ctstate NEW -j ACCEPT");
                words += name + " -P FORWARD DROP; ";
            }
            if (chance_.once(4))
                add("PREROUTING -t mangle", drawn(steady_).iptables(six));
            if (chance_.once(8))
                add("PREROUTING -t raw", "-p udp --dport 69 -j CT --notrack");
            lines.push_back(words + "true; }");
        }
    }

    std::string masquerade() {
        return all({"add table ip nat", "add chain ip nat after { type nat hook postrouting priority 100; }",
                    // Else an answer that comes first is a connection of its own, beside which another one
                    // cannot have its port.
                    "add chain ip nat own { type filter hook input priority -10; }",
                    fmt::format("add rule ip nat own th sport {} drop", translatedPort),
                    fmt::format("add rule ip nat after meta l4proto {{ tcp, udp }} th dport {} masquerade",
                                translatedPort)});
    }

    /// Connections that are there stay as they are.
    std::vector<Step> translationChange() {
        const auto chain =
            fmt::format("{} nat {}", chance_.oneOf({"ip", "ip6"}), chance_.oneOf({"before", "after"}));
        undoBy(all(translationRules(topology(), dropped_)));
        return commands(
            {chance_.once(2)
                 ? fmt::format("nft flush chain {}", chain)
                 : fmt::format("nft delete chain {} 2>/dev/null || nft flush chain {}", chain, chain)});
    }

    std::string setting() {
        return fmt::format(
            "sysctl -qw net.netfilter.{} 2>/dev/null || true",
            chance_.oneOf({"nf_conntrack_checksum=0", "nf_conntrack_checksum=1",
                           "nf_conntrack_tcp_be_liberal=1", "nf_conntrack_tcp_be_liberal=1",
                           "nf_conntrack_tcp_loose=0", "nf_conntrack_acct=1", "nf_conntrack_acct=0",
                           "nf_conntrack_timestamp=1", "nf_conntrack_tcp_max_retrans=1",
                           "nf_conntrack_tcp_no_window_check=1", "nf_conntrack_tcp_ignore_invalid_rst=1"}));
    }

    [[nodiscard]] unsigned usualChange() const override { return 8; }
    std::vector<Step> ownChange() override {
        conversations_->goOnWithTheLast();
        if (!tracked_ && chance_.once(8)) { // for a while, connections are tracked
            undoBy("nft delete table ip asks 2>/dev/null || true");
            return commands(
                {quoted("add table ip asks; add chain ip asks c { type filter hook forward priority 5; };"
                        " add rule ip asks c ct state invalid accept")});
        }
        switch (chance_.below(10)) {
        case 0:
        case 1:
        case 2:
            return entries();
        case 3:
            if (calls_ && chance_.once(2)) {
                const auto name = chance_.oneOf({"iptables", "ip6tables"});
                return undoBy(callsWords(name, true)), commands({callsWords(name, false)});
            }
            return commands({setting()});
        case 4:
            return device();
        case 5:
            if (translates_)
                return translationChange();
            [[fallthrough]];
        default:
            return style_ < 7 ? nftChange() : iptablesChange();
        }
    }

    std::vector<Step> entries() {
        const auto ends = conversations_->anyEnds();
        const auto order = [](const std::string& words) {
            return std::vector<Step>{Directive{Directive::Verb::entry, {}, false, words}};
        };
        switch (chance_.below(10)) {
        case 0:
            return order("flush");
        case 1:
        case 2:
            return order("delete " + ends);
        case 3:
        case 4:
            return order("mark " + ends + " " + std::to_string(chance_.oneOf({0, 1, 7, 8})));
        case 5: // sooner than usual, but not before the case is over
            return order("timeout " + ends + " 400");
        default:
            return order("add " + conversations_->anyEntry());
        }
    }

    /// What rules know it by.
    std::vector<Step> device() {
        const auto which = bridged_ && chance_.once(2) ? "br0" : port();
        undoBy(fmt::format("ip link set {} group 0", which));
        return commands({fmt::format("ip link set {} group {}", which, chance_.oneOf({3, 7}))});
    }

    std::vector<Step> nftChange() {
        const auto chain = chance_.oneOf({"forward", "forward", "forward", "c1", "c2"});
        const auto first =
            fmt::format("$(nft -a list chain inet fw {0} | sed -n \"s/.* # handle //p\" | sed -n {1})", chain,
                        chance_.oneOf({"2p", "2p", "3p", "\\$p"}));
        switch (chance_.below(12)) {
        case 0:
        case 1:
            undoBy(quoted(fmt::format("delete rule inet fw {} handle ", chain)) +
                   fmt::format("$(nft -a list chain inet fw {} | sed -n \"s/.* # handle //p\" | sed -n 2p) "
                               "2>/dev/null || true",
                               chain));
            return commands({quoted(fmt::format("insert rule inet fw {} {}", chain,
                                                drawn(mostlySteady()).rule(chain == "forward"))) +
                             " 2>/dev/null || true"});
        case 2:
            return commands({quoted(fmt::format("add rule inet fw {} {}", chain,
                                                drawn(mostlySteady()).rule(chain == "forward"))) +
                             " 2>/dev/null || true"});
        case 3:
            return commands(
                {fmt::format("nft delete rule inet fw {} handle {} 2>/dev/null || true", chain, first)});
        case 4:
            return commands({fmt::format("nft replace rule inet fw {} handle {} '{}' 2>/dev/null || true",
                                         chain, first, drawn(mostlySteady()).rule(chain == "forward"))});
        case 5:
        case 6: {
            const auto element = drawn(mostlySteady()).element();
            undoBy(quoted("delete element inet fw " + element) + " 2>/dev/null || true");
            return commands({quoted("add element inet fw " + element) + " 2>/dev/null || true"});
        }
        case 7:
            return commands({quoted("delete element inet fw " + drawn(mostlySteady()).element()) +
                             " 2>/dev/null || true"});
        case 8:
            undoBy(quoted(
                fmt::format("add chain inet fw forward {{ policy {}; }}", accepts_ ? "accept" : "drop")));
            return commands({quoted(
                fmt::format("add chain inet fw forward {{ policy {}; }}", accepts_ ? "drop" : "accept"))});
        case 9:
            return commands(
                {chance_.oneOf({"nft flush chain inet fw c1", "nft flush set inet fw blocked",
                                "nft flush set inet fw ports", "nft reset counters table inet fw >/dev/null",
                                "nft reset rules table inet fw >/dev/null 2>&1 || true",
                                "nft add table inet fw '{ flags dormant; }'; nft add table inet fw"})});
        case 10: { // all at once
            undoBy("printf '%s\\n' \"$rules\" | nft -f - 2>/dev/null || true");
            return commands({"rules=$(nft -s list ruleset); nft flush ruleset"});
        }
        default: {
            const auto words = fmt::format("{{ type filter hook {} priority {}; policy {}; }}",
                                           chance_.oneOf({"prerouting", "forward", "postrouting"}),
                                           chance_.oneOf({"-400", "-200", "5", "300"}),
                                           chance_.oneOf({"accept", "accept", "drop"}));
            undoBy("nft delete table ip other");
            return commands({quoted("add table ip other; add chain ip other c " + words)});
        }
        }
    }

    std::vector<Step> iptablesChange() {
        const bool six = chance_.once(4);
        const std::string name = six ? "ip6tables-nft" : "iptables-nft";
        const auto quiet = " 2>/dev/null || true";
        switch (chance_.below(5)) {
        case 0:
        case 1:
            undoBy(fmt::format("{} -D FORWARD 1{}", name, quiet));
            return commands(
                {fmt::format("{} -I FORWARD {}{}", name, drawn(mostlySteady()).iptables(six), quiet)});
        case 2:
            return commands(
                {fmt::format("{} -A FORWARD {}{}", name, drawn(mostlySteady()).iptables(six), quiet)});
        case 3:
            return commands({fmt::format("{} -D FORWARD {}{}", name, 1 + chance_.below(3), quiet)});
        default:
            return commands({fmt::format("{} {}{}", name, chance_.oneOf({"-Z", "-F c1"}), quiet)});
        }
    }

    Rules drawn(bool steady) { return {chance_, topology(), steady, tracked_}; }
    bool mostlySteady() { return steady_ && !chance_.once(8); }

    bool translates_;
    InvalidDropped dropped_ = InvalidDropped::notAll;
    unsigned connections_ = 0;
    unsigned style_ = 0;
    bool steady_ = true; ///< what is looked at before established connections are let through
    bool accepts_ = true;
    bool bridged_ = false;
    bool calls_ = false;                     ///< bridges have the rules called
    bool tracked_ = true;                    ///< something may ask for connections
    Conversations* conversations_ = nullptr; ///< of whoever asked for packets
};
} // namespace

std::unique_ptr<Scenario> firewallScenario(Chance& chance) {
    return std::make_unique<FirewallScenario>(chance, routerScenario(chance));
}

std::unique_ptr<Scenario> natScenario(Chance& chance) {
    return std::make_unique<FirewallScenario>(chance, routerScenario(chance), true);
}

std::unique_ptr<Scenario> bridgedFirewallScenario(Chance& chance) {
    return std::make_unique<FirewallScenario>(chance, bridgeScenario(chance, false));
}

/// Bridges with addresses that have the rules called, also for what is routed then.
std::unique_ptr<Scenario> containersScenario(Chance& chance) {
    const bool translates = !chance.once(3);
    return std::make_unique<FirewallScenario>(chance, routedBridgeScenario(chance), translates);
}

} // namespace tna::diff
