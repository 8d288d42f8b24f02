// SPDX-License-Identifier: Apache-2.0
// Bridges with rules of their own (family bridge), which change; some have IP's rules called as well.
#include "diff/random/bridging.hpp"
#include "diff/random/conversations.hpp"
#include "diff/random/extension.hpp"
#include "diff/random/rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tna::diff {

namespace {
constexpr const char* orNot = " 2>/dev/null || true";

std::string nft(const std::string& words) {
    return "nft '" + words + "'";
}

class BridgeRulesScenario : public Extension {
public:
    BridgeRulesScenario(Chance& chance, std::unique_ptr<Scenario> base, bool callsOthers)
        : Extension(chance, std::move(base)), callsOthers_(callsOthers) {}

    std::unique_ptr<Source> source() override {
        return callsOthers_ ? base().source() : std::make_unique<Conversations>(chance_, topology(), false);
    }
    [[nodiscard]] unsigned connections() const override { return connections_; }
    /// Flows are learnt anew after each change.
    [[nodiscard]] Pace pace() const override { return {.changes = 8, .unheard = 6, .late = 40}; }

private:
    std::vector<std::string> more() override {
        connections_ = chance_.once(10) ? 16 : 65536;
        steady_ = !chance_.once(4);
        topology().gateways = {std::nullopt};
        topology().spread = {.newFlow = 20, .far = 4, .fromFar = 0};
        std::vector<std::string> lines{nft("add table bridge own")};
        for (const auto& set : Rules::sets())
            lines.push_back(nft(fmt::format("add {} bridge own {}", set.substr(0, set.find(' ')),
                                            set.substr(set.find(' ') + 1))) +
                            orNot);
        lines.push_back(nft("add set bridge own macs { type ether_addr; }"));
        for (const char* chain : {"c1", "c2"})
            lines.push_back(nft(fmt::format("add chain bridge own {}", chain)));
        accepts_ = !chance_.once(3);
        lines.push_back(nft(
            fmt::format("add chain bridge own forward {{ type filter hook forward priority {}; policy {}; }}",
                        chance_.oneOf({"0", "-200", "-1", "1", "300"}), accepts_ ? "accept" : "drop")));
        addRules(lines, "forward", 2 + chance_.below(6));
        if (!accepts_)
            lines.push_back(
                nft(fmt::format("add rule bridge own forward {} accept",
                                chance_.oneOf({"ether type { ip, ip6, arp }", "meta l4proto udp",
                                               "meta l4proto { tcp, udp }", "ip daddr 10.0.0.0/8"}))));
        for (const char* chain : {"c1", "c2"})
            addRules(lines, chain, chance_.below(3));
        for (const char* hook : {"prerouting", "postrouting"})
            if (chance_.once(3)) {
                lines.push_back(
                    nft(fmt::format("add chain bridge own {0} {{ type filter hook {0} priority {1}; }}", hook,
                                    chance_.oneOf({"-300", "-1", "0", "5", "100"}))));
                addRules(lines, hook, 1 + chance_.below(2));
            }
        return lines;
    }

    void addRules(std::vector<std::string>& lines, const char* chain, unsigned number) {
        for (; number > 0; number--)
            lines.push_back(
                nft(fmt::format("add rule bridge own {} {}", chain, rule(steady_, chain[0] != 'c'))) + orNot);
    }

    /// What the kernel does not know for bridges is no rule.
    std::string rule(bool steady, bool mayJump) {
        if (chance_.once(2))
            return Rules(chance_, topology(), steady, false).rule(mayJump);
        std::string words = link();
        if (!steady && chance_.once(3))
            words +=
                chance_.oneOf({" meta length > 300", " ip ttl < 40", " meta mark 7", " meta pkttype host",
                               " ip6 hoplimit 64", " limit rate 1/hour burst 5 packets"});
        if (chance_.once(3))
            words += chance_.oneOf({" udp dport 53", " tcp dport 80", " meta l4proto tcp", " ip dscp cs1",
                                    " tcp flags syn", " th sport > 1100", " ether type ip6"});
        words += chance_.oneOf({" counter", "", "", ""});
        if (!steady && chance_.once(4))
            return words + chance_.oneOf({" meta mark set 7", " ether saddr set 02:00:00:00:77:77",
                                          " meta priority set 1:2"});
        if (mayJump && chance_.once(4))
            return words + chance_.oneOf({" jump c1", " goto c2", " jump c2"});
        return words + chance_.oneOf({" accept", " drop", " drop", " return", ""});
    }

    /// Of the link layer, and of devices.
    std::string link() {
        const auto mac = text(chance_.oneOf(topology().hosts).mac);
        const auto device = port();
        switch (chance_.below(10)) {
        case 0:
        case 1:
            return "ether saddr " + mac;
        case 2:
            return "ether daddr " + mac;
        case 3:
            return fmt::format("ether saddr != {{ {}, {} }}", mac, text(chance_.oneOf(topology().hosts).mac));
        case 4:
            return "iifname " + device;
        case 5:
            return fmt::format("iifname {} oifname {}", device, port());
        case 6:
            return fmt::format("oif {} iifgroup 0", device);
        case 7:
            return chance_.oneOf({"ether saddr @macs", "ether daddr @macs"});
        case 8:
            return chance_.oneOf({"vlan id 10", "ether type vlan", "oifgroup 7", "iifgroup 3"});
        default:
            return chance_.oneOf({"ether type arp", "ether type ip", "ether type ip6", "meta protocol ip"});
        }
    }

    [[nodiscard]] unsigned usualChange() const override { return callsOthers_ ? 3 : 8; }
    std::vector<Step> ownChange() override {
        const auto chain = chance_.oneOf({"forward", "forward", "c1", "c2", "postrouting"});
        const auto handle =
            fmt::format("$(nft -a list chain bridge own {} | sed -n \"s/.* # handle //p\" | sed -n {}p)",
                        chain, chance_.oneOf({2, 2, 3}));
        const bool steady = steady_ && !chance_.once(8);
        switch (chance_.below(13)) {
        case 0:
        case 1:
            undoBy(fmt::format("nft delete rule bridge own {} handle {}{}", chain, handle, orNot));
            return commands(
                {nft(fmt::format("insert rule bridge own {} {}", chain, rule(steady, chain[0] != 'c'))) +
                 orNot});
        case 2:
            return commands(
                {nft(fmt::format("add rule bridge own {} {}", chain, rule(steady, chain[0] != 'c'))) +
                 orNot});
        case 3:
            return commands({fmt::format("nft delete rule bridge own {} handle {}{}", chain, handle, orNot)});
        case 4:
        case 5: {
            const auto element = chance_.once(2)
                                     ? "macs { " + text(chance_.oneOf(topology().hosts).mac) + " }"
                                     : Rules(chance_, topology(), steady, false).element();
            undoBy(nft("delete element bridge own " + element) + orNot);
            return commands({nft("add element bridge own " + element) + orNot});
        }
        case 6:
            undoBy(nft(
                fmt::format("add chain bridge own forward {{ policy {}; }}", accepts_ ? "accept" : "drop")));
            return commands({nft(
                fmt::format("add chain bridge own forward {{ policy {}; }}", accepts_ ? "drop" : "accept"))});
        case 7:
            return commands(
                {chance_.oneOf({"nft flush chain bridge own c1", "nft flush set bridge own macs",
                                "nft add table bridge own '{ flags dormant; }'; nft add table bridge own"})});
        case 8: // all at once
            undoBy("printf '%s\\n' \"$own\" | nft -f - 2>/dev/null || true");
            return commands({"own=$(nft -s list table bridge own); nft delete table bridge own"});
        case 9: {
            const auto words = fmt::format("{{ type filter hook {} priority {}; policy {}; }}",
                                           chance_.oneOf({"prerouting", "forward", "postrouting", "input"}),
                                           chance_.oneOf({"-400", "0", "5", "300"}),
                                           chance_.oneOf({"accept", "accept", "drop"}));
            undoBy("nft delete table bridge other");
            return commands({nft("add table bridge other; add chain bridge other c " + words)});
        }
        case 10: {
            const auto which = chance_.once(4) ? "br0" : port();
            undoBy(fmt::format("ip link set {} group 0", which));
            return commands({fmt::format("ip link set {} group {}", which, chance_.oneOf({3, 7}))});
        }
        case 11: {
            const auto name = chance_.oneOf({"iptables", "ip6tables"});
            undoBy(callsWords(name, callsOthers_));
            return commands({callsWords(name, !callsOthers_)});
        }
        default: {
            const auto which = port();
            undoBy(fmt::format("nft delete table netdev away{}", orNot));
            return commands(
                {fmt::format("nft 'table netdev away {{ chain c {{ type filter hook ingress device "
                             "{} priority 0; {}; }}; }}'{}",
                             which, chance_.oneOf({"udp dport 53 drop", "fwd to p3", "fwd to p0"}), orNot)});
        }
        }
    }

    bool callsOthers_; ///< rules of IP
    unsigned connections_ = 0;
    bool steady_ = true;
    bool accepts_ = true;
};
} // namespace

std::unique_ptr<Scenario> bridgeRulesScenario(Chance& chance) {
    const bool callsOthers = chance.once(3);
    auto base = callsOthers ? bridgedFirewallScenario(chance) : bridgeScenario(chance, false);
    return std::make_unique<BridgeRulesScenario>(chance, std::move(base), callsOthers);
}

} // namespace tna::diff
