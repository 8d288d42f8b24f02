// SPDX-License-Identifier: Apache-2.0
#include "diff/random/rules.hpp"

#include <fmt/format.h>

namespace tna::diff {

/// Of a family and an address: "ip saddr 10.0.1.2".
std::string Rules::address() {
    const bool six = chance_.once(3);
    const auto& host = chance_.oneOf(topology_.hosts);
    return fmt::format("{} {} {}", six ? "ip6" : "ip", chance_.oneOf({"saddr", "daddr"}),
                       six ? text6(host.ip6) : text4(host.ip4));
}

/// What few flows match.
std::string Rules::narrow() {
    switch (steady_ ? 4 + chance_.below(10) : chance_.below(14)) {
    case 4:
        return chance_.oneOf({"udp dport 53", "udp dport 443", "udp sport 8080", "tcp dport 80",
                              "tcp sport 443", "th dport 4001", "tcp dport { 21, 80 }", "udp dport 5000-9000",
                              "meta l4proto udp th sport @ports"});
    case 5:
        return chance_.oneOf({"ip saddr @blocked", "ip daddr @blocked", "ip6 saddr @blocked6",
                              "ip saddr . udp dport @pairs", "ip daddr @nets", "udp dport @ports"});
    case 6:
        if (topology_.bridged())
            return chance_.oneOf({"iifname br0 oifname br0", "iifname br0 udp dport 443",
                                  "oifname br0 tcp dport 80", "iifgroup 3", "oif br0 udp dport 53"});
        return fmt::format("iifname p{} oifname p{}", chance_.below(4), chance_.below(4));
    case 7:
        return chance_.oneOf({"ct state new", "ct state invalid", "ct state related", "ct state untracked",
                              "ct state { new, invalid }"});
    case 8:
        return chance_.oneOf({"ct mark 7", "meta mark 7", "ct mark & 1 == 1", "meta mark { 1, 5, 7 }",
                              "ct zone 3", "ct helper \"ftp\""});
    case 0: // looked at for each packet
        return chance_.oneOf({"ip dscp cs1", "ip dscp { 10, 12, 46 }", "ip ttl < 5", "ip ttl 255",
                              "ip6 dscp cs1", "meta length 1300-1500", "ip length < 30", "ip6 hoplimit 63",
                              "ip ecn ce", "ip6 flowlabel 0x1234"});
    case 1:
        return chance_.oneOf({"tcp flags syn", "tcp flags & (fin|syn|rst) == fin", "tcp flags psh",
                              "tcp flags & (syn|ack) == syn", "tcp window 512", "tcp option maxseg exists",
                              "tcp option timestamp exists"});
    case 2:
        return "ether saddr " + text(chance_.oneOf(topology_.hosts).mac);
    case 3:
        return chance_.oneOf({"ip frag-off & 0x3fff != 0", "exthdr frag exists", "ip id 7",
                              "ip version 4 ip saddr 10.9.0.1", "@th,0,16 1031", "udp length 26",
                              "udp checksum 0", "ip option rr exists"});
    case 9:
        return chance_.oneOf({"icmp type echo-request", "icmp type destination-unreachable",
                              "icmpv6 type echo-reply", "icmp code 4", "ip dscp cs1",
                              "ip dscp { 10, 12, 46 }", "ip ecn { ect0, ce }", "ip dscp < 32"});
    case 10:
        return fmt::format("ct original ip {} {}", chance_.oneOf({"saddr", "daddr"}),
                           text4(chance_.oneOf(topology_.hosts).ip4));
    case 11:
        return chance_.oneOf({"ct original proto-dst 53", "ct reply proto-src 443",
                              "ct direction reply udp sport 53", "meta l4proto tcp ct status assured",
                              "ct status seen-reply udp dport 80", "ct direction original tcp dport 80"});
    default:
        return address();
    }
}

/// What many match.
std::string Rules::wide() {
    return chance_.oneOf({"ct state established",
                          "ct state established,related",
                          "meta nfproto ipv4",
                          "meta nfproto ipv6",
                          "meta l4proto { tcp, udp }",
                          "ip protocol udp",
                          "iifname \"p*\"",
                          "iifgroup 0",
                          "iif lo",
                          "oifgroup != 3",
                          "ip daddr 10.0.0.0/8",
                          "ct direction original",
                          "ct direction reply",
                          "ct status confirmed",
                          "ct mark 0",
                          "meta mark 0",
                          "ct state != invalid",
                          "fib saddr . iif oif exists",
                          "fib daddr type unicast",
                          "meta pkttype host",
                          "meta iiftype ether",
                          "ct l3proto ipv4",
                          "ct state & (established | related) != 0",
                          "meta cpu < 4096",
                          "rt nexthop != 10.0.9.9"});
}

/// What packets of one flow may differ in: only the first of them, every second one, or none or all if
/// somebody else has decided so.
std::string Rules::uneven() {
    return chance_.oneOf({"limit rate 1000000/second burst 100000 packets",
                          "limit rate over 1/week burst 3 packets",
                          "limit rate 1/week burst 4 packets",
                          "quota 5000 bytes",
                          "quota over 3000 bytes",
                          "quota 100000 mbytes",
                          "numgen inc mod 2 == 0",
                          "numgen inc mod 3 0",
                          "ct bytes > 1000",
                          "ct packets > 5",
                          "ct avgpkt > 100",
                          "ct expiration > 1s",
                          "ct count over 1000",
                          "meta time > 0",
                          "limit rate over 1000000 kbytes/second",
                          "meta random >= 0",
                          "ct original packets 3",
                          "ip saddr @seen",
                          "ip saddr != @seen",
                          "jhash ip saddr mod 2 seed 7 == 0",
                          "symhash mod 1 == 0",
                          "@nh,16,16 > 100"});
}

std::string Rules::effect() {
    switch (steady_ ? 4 + chance_.below(9) : chance_.below(13)) {
    case 0:
        return chance_.oneOf(
            {"log group 5", "log prefix \"seen \"", "log group 7 snaplen 20", "log flags all"});
    case 1:
        return chance_.oneOf({"meta mark set 7", "meta mark set ct mark", "meta mark set meta mark or 1",
                              "ct mark set 7", "ct mark set 7", "ct mark set meta mark",
                              "ct mark set ct mark or 2", "meta priority set 0:1", "meta pkttype set host"});
    case 2:
        return chance_.oneOf({"ip dscp set cs1", "ip ttl set 33", "ip6 hoplimit set 9",
                              "tcp option maxseg size set 1200", "tcp option maxseg size set rt mtu",
                              "udp dport set 4444", "ip ecn set ect0", "ip df set 0"});
    case 4:
        return chance_.oneOf({"ct mark set 7", "counter name \"all\"", "meta mark set 7"});
    case 3:
        return chance_.oneOf({"add @seen { ip saddr }", "update @seen { ip daddr }",
                              "delete @seen { ip saddr }", "counter name \"all\"", "quota name \"much\"",
                              "ct helper set \"ftp\"", "ct timeout set \"long\"", "last"});
    default:
        return chance_.oneOf({"", "counter", "counter", "counter comment \"seen\""});
    }
}

std::string Rules::verdict(bool mayJump) {
    switch (chance_.below(mayJump ? 14 : 11)) {
    case 0:
    case 1:
    case 2:
        return "drop";
    case 3:
        return chance_.oneOf({"reject", "reject with icmpx type port-unreachable",
                              "meta l4proto tcp reject with tcp reset",
                              "reject with icmp type net-prohibited"});
    case 4:
        return chance_.oneOf({"return", "continue"});
    case 5:
        return "udp dport vmap @verdicts";
    case 6:
        return "";
    case 11:
    case 12:
        return chance_.oneOf({"jump c1", "jump c2"});
    case 13:
        return "goto c1";
    default:
        return "accept";
    }
}

namespace {
bool asksForConnections(const std::string& rule) {
    return rule.find("ct ") != std::string::npos;
}
} // namespace

std::string Rules::rule(bool mayJump) {
    for (;;)
        if (auto drawn = anyRule(mayJump); tracked_ || !asksForConnections(drawn))
            return drawn;
}

std::string Rules::early(bool mayZone) {
    for (;;)
        if (auto drawn = anyEarly(); (tracked_ || !asksForConnections(drawn)) &&
                                     (mayZone || drawn.find("zone set") == std::string::npos))
            return drawn;
}

std::string Rules::anyRule(bool mayJump) {
    std::string words;
    const bool many = chance_.once(3);
    words = many ? wide() : narrow();
    if (chance_.once(4))
        words += " " + (chance_.once(2) ? wide() : narrow());
    if (!steady_ && chance_.once(8))
        words += " " + uneven();
    if (const auto more = effect(); !more.empty())
        words += " " + more;
    if (const auto last = verdict(mayJump); many && chance_.once(2) && last != "return")
        words += " accept"; // most packets pass
    else if (!many || (last != "drop" && !last.starts_with("reject") && !last.ends_with("tcp reset")))
        words += " " + last;
    return words;
}

std::vector<std::string> Rules::sets() {
    return {"set blocked { type ipv4_addr; elements = { 10.0.1.3, 10.9.0.2 }; }",
            "set blocked6 { type ipv6_addr; flags interval; elements = { fd00:0:0:2::/126 }; }",
            "set nets { type ipv4_addr; flags interval; elements = { 10.0.2.2-10.0.2.3 }; }",
            "set ports { type inet_service; elements = { 8080, 4001 }; }",
            "set pairs { type ipv4_addr . inet_service; elements = { 10.0.0.2 . 80 }; }",
            "set seen { type ipv4_addr; size 64; flags dynamic; }",
            "map verdicts { type inet_service : verdict; elements = { 69 : drop, 443 : accept }; }",
            "map marks { type inet_service : mark; elements = { 80 : 5, 53 : 7 }; }",
            "counter all { }",
            "quota much { over 100000 mbytes }"};
}

std::string Rules::element() {
    const auto& host = chance_.oneOf(topology_.hosts);
    switch (chance_.below(6)) {
    case 0:
        return fmt::format("blocked6 {{ {} }}", text6(host.ip6));
    case 1:
        return fmt::format("ports {{ {} }}", chance_.oneOf({53, 80, 443}));
    case 2:
        return fmt::format("pairs {{ {} . {} }}", text4(host.ip4), chance_.oneOf({53, 80, 443}));
    case 3:
        return fmt::format("verdicts {{ {} : {} }}", chance_.oneOf({53, 80, 8080}),
                           chance_.oneOf({"drop", "accept"}));
    case 4:
        return fmt::format("nets {{ {} }}", text4(host.ip4));
    default:
        return fmt::format("blocked {{ {} }}", text4(host.ip4));
    }
}

std::string Rules::anyEarly() {
    if (steady_ || chance_.once(2))
        return narrow() + " " +
               chance_.oneOf({"notrack", "ct zone set 3", "meta mark set 1", "meta mark set 7",
                              "ct mark set 7", "drop", "accept"});
    return (chance_.once(4) ? wide() : narrow()) + " " +
           chance_.oneOf({"ct original zone set 4", "meta mark set udp dport map @marks", "accept",
                          "meta mark set ct mark", "ip dscp set cs2", "ct helper set \"ftp\""});
}

std::vector<std::string> Rules::exemptions() {
    std::vector<std::string> rules{
        "add table inet early",
        fmt::format("add chain inet early before {{ type filter hook prerouting priority {}; }}",
                    chance_.oneOf({"-300", "-300", "-201", "-450"}))};
    for (unsigned i = 1 + chance_.below(4); i > 0; i--)
        rules.push_back(fmt::format(
            "add rule inet early before {} notrack",
            chance_.oneOf({"udp dport 53", "udp sport 53", "th dport { 443, 8080 }", "th sport { 443, 8080 }",
                           "tcp dport 80", "tcp sport 80", "meta l4proto udp", "meta l4proto tcp",
                           "iifname p1", "meta nfproto ipv6", "ip saddr 10.0.1.0/24", "ip daddr 10.0.1.0/24",
                           "tcp flags & (fin | syn | rst) == 0", "ip dscp cs0 udp dport 443"})));
    return rules;
}

std::string Rules::iptables(bool six) {
    const auto& host = chance_.oneOf(topology_.hosts);
    std::string words;
    switch (steady_ ? 2 + chance_.below(7) : chance_.below(9)) {
    case 2:
        words = chance_.oneOf({"-p udp --dport 53", "-p tcp --dport 80", "-p udp --sport 4000:9000",
                               "-p tcp --tcp-flags SYN,RST SYN", "-p udp -m multiport --dports 53,443",
                               "-p tcp --syn"});
        break;
    case 3:
        words = fmt::format("{} {}", chance_.oneOf({"-s", "-d"}), six ? text6(host.ip6) : text4(host.ip4));
        break;
    case 4:
        words = topology_.bridged() ? fmt::format("-m physdev --physdev-{} p{}", chance_.oneOf({"in", "out"}),
                                                  chance_.below(4))
                                    : fmt::format("-i p{} -o p{}", chance_.below(4), chance_.below(4));
        break;
    case 5:
        words = "-m conntrack " + chance_.oneOf({"--ctstate NEW", "--ctstate INVALID", "--ctdir REPLY",
                                                 "--ctstate RELATED,UNTRACKED", "--ctproto udp",
                                                 "--ctstate UNTRACKED", "! --ctstate ESTABLISHED"});
        break;
    case 6:
        words = chance_.oneOf({"-m mark --mark 7", "-m connmark --mark 7/7", "-m comment --comment seen",
                               "-m pkttype --pkt-type unicast"});
        break;
    case 0:
        words = chance_.oneOf({"-m dscp --dscp 10", "-m tos --tos 0x10", "-m length --length 1300:1500",
                               six ? "-m hl --hl-lt 5" : "-m ttl --ttl-lt 5", "-m ecn --ecn-ip-ect 3",
                               "-m mac --mac-source 02:00:00:00:00:02"});
        break;
    case 1:
        words = chance_.oneOf({"-m limit --limit 100000/s --limit-burst 100000",
                               "-m connbytes --connbytes 3 --connbytes-dir both --connbytes-mode packets",
                               "-m statistic --mode nth --every 2 --packet 0", "-m quota --quota 5000",
                               "-m addrtype --dst-type UNICAST", "-m rpfilter"});
        break;
    default:
        break;
    }
    const bool few = !words.empty() && words.find("-m limit") == std::string::npos;
    if (steady_)
        return words + " -j " +
               chance_.oneOf({few ? "DROP" : "ACCEPT", few ? "REJECT" : "ACCEPT", "ACCEPT", "ACCEPT", "c1",
                              few ? "CONNMARK --set-mark 7" : "ACCEPT", "RETURN"});
    return words + " -j " +
           chance_.oneOf({few ? "DROP" : "ACCEPT", few ? "REJECT" : "ACCEPT", "ACCEPT", "ACCEPT",
                          "MARK --set-mark 7", "CONNMARK --set-mark 7", "CONNMARK --save-mark",
                          "NFLOG --nflog-group 5", "DSCP --set-dscp 10", "LOG", "c1", "c1", "RETURN"});
}

} // namespace tna::diff
