// SPDX-License-Identifier: Apache-2.0
#include "kube_rules.hpp"

#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace tna::test {

namespace {
template <typename... Arguments>
void line(std::string& out, fmt::format_string<Arguments...> words, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), words, std::forward<Arguments>(arguments)...);
    out += '\n';
}

/// What a service's chain has: masquerading for those outside of the cluster, and the choice.
std::string choiceOfNftables(unsigned service, const std::vector<unsigned>& endpoints) {
    std::string choices;
    for (std::size_t i = 0; i < endpoints.size(); i++)
        choices += fmt::format("{}{} : goto endpoint-{}-{}", i == 0 ? "" : ", ", i, service, endpoints[i]);
    std::string out;
    const auto chain = fmt::format("add rule ip kube-proxy service-{} ", service);
    line(out, "{}ip daddr {} udp dport {} ip saddr != 10.0.0.0/8 jump mark-for-masquerade", chain,
         KubeRules::addressOf(service), unsigned{KubeRules::servicePort});
    line(out, "{}numgen random mod {} vmap {{ {} }}", chain, endpoints.size(), choices);
    return out;
}

std::string choiceOfIptables(unsigned service, const std::vector<unsigned>& endpoints) {
    std::string out;
    line(out, "-A KUBE-SVC-{} ! -s 10.0.0.0/8 -d {}/32 -p udp -m udp --dport {} -j KUBE-MARK-MASQ", service,
         KubeRules::addressOf(service), unsigned{KubeRules::servicePort});
    for (std::size_t i = 0; i < endpoints.size(); i++) {
        const auto left = endpoints.size() - i;
        const auto chance = left == 1 ? std::string()
                                      : fmt::format(" -m statistic --mode random --probability {:.8f}",
                                                    1.0 / static_cast<double>(left));
        line(out, "-A KUBE-SVC-{0}{1} -j KUBE-SEP-{0}-{2}", service, chance, endpoints[i]);
    }
    return out;
}
} // namespace

std::string KubeRules::addressOf(unsigned service) {
    return fmt::format("10.96.{}.{}", service / 250, 1 + service % 250);
}

std::vector<unsigned> KubeRules::every() const {
    std::vector<unsigned> all(endpoints_);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

std::string KubeRules::all() const {
    return mode_ == Mode::nftables ? nftables() : iptables();
}

std::string KubeRules::change(unsigned service, const std::vector<unsigned>& endpoints) const {
    std::string out;
    if (mode_ == Mode::nftables) {
        line(out, "flush chain ip kube-proxy service-{}", service);
        return out + choiceOfNftables(service, endpoints);
    }
    line(out, "*nat\n:KUBE-SVC-{} - [0:0]", service);
    return out + choiceOfIptables(service, endpoints) + "COMMIT\n";
}

std::vector<std::string> KubeRules::loader(bool besides) const {
    if (mode_ == Mode::nftables)
        return {"nft", "-f"};
    return besides ? std::vector<std::string>{"iptables-nft-restore", "--noflush"}
                   : std::vector<std::string>{"iptables-nft-restore"};
}

std::string KubeRules::nftables() const {
    std::string out = R"(add table ip kube-proxy
add set ip kube-proxy cluster-ips { type ipv4_addr; }
add map ip kube-proxy firewall-ips { type ipv4_addr . inet_proto . inet_service : verdict; }
add map ip kube-proxy no-endpoint-services { type ipv4_addr . inet_proto . inet_service : verdict; }
add map ip kube-proxy service-ips { type ipv4_addr . inet_proto . inet_service : verdict; }
add chain ip kube-proxy mark-for-masquerade
add rule ip kube-proxy mark-for-masquerade meta mark set meta mark | 0x4000
add chain ip kube-proxy firewall-check
add rule ip kube-proxy firewall-check ip daddr . meta l4proto . th dport vmap @firewall-ips
add chain ip kube-proxy service-endpoints-check
add rule ip kube-proxy service-endpoints-check ip daddr . meta l4proto . th dport vmap @no-endpoint-services
add chain ip kube-proxy cluster-ips-check
add rule ip kube-proxy cluster-ips-check ip daddr @cluster-ips reject
add chain ip kube-proxy filter-prerouting-pre-dnat { type filter hook prerouting priority -110; }
add rule ip kube-proxy filter-prerouting-pre-dnat ct state new jump firewall-check
add chain ip kube-proxy filter-forward { type filter hook forward priority -110; }
add rule ip kube-proxy filter-forward ct state new jump service-endpoints-check
add rule ip kube-proxy filter-forward ct state new jump cluster-ips-check
add chain ip kube-proxy nat-prerouting { type nat hook prerouting priority -100; }
add rule ip kube-proxy nat-prerouting ip daddr . meta l4proto . th dport vmap @service-ips
add chain ip kube-proxy nat-postrouting { type nat hook postrouting priority 100; }
add rule ip kube-proxy nat-postrouting meta mark & 0x4000 == 0 return
add rule ip kube-proxy nat-postrouting meta mark set meta mark ^ 0x4000
add rule ip kube-proxy nat-postrouting masquerade fully-random
)";
    for (unsigned service = 0; service < services_; service++) {
        for (const unsigned number : every()) {
            const auto chain = fmt::format("ip kube-proxy endpoint-{}-{}", service, number);
            line(out, "add chain {}", chain);
            line(out, "add rule {} ip saddr {} jump mark-for-masquerade", chain, endpoint(number));
            line(out, "add rule {} meta l4proto udp dnat to {}:{}", chain, endpoint(number),
                 unsigned{endpointPort});
        }
        line(out, "add chain ip kube-proxy service-{}", service);
        out += choiceOfNftables(service, every());
        line(out, "add element ip kube-proxy cluster-ips {{ {} }}", addressOf(service));
        line(out, "add element ip kube-proxy service-ips {{ {} . udp . {} : goto service-{} }}",
             addressOf(service), unsigned{servicePort}, service);
    }
    return out;
}

std::string KubeRules::iptables() const {
    std::string out = R"(*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-FORWARD - [0:0]
-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-SERVICES - [0:0]
)";
    for (unsigned service = 0; service < services_; service++) {
        line(out, ":KUBE-SVC-{} - [0:0]", service);
        for (const unsigned number : every())
            line(out, ":KUBE-SEP-{}-{} - [0:0]", service, number);
    }
    out += R"(-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
-A KUBE-POSTROUTING -j MASQUERADE --random-fully
)";
    for (unsigned service = 0; service < services_; service++) {
        line(out, "-A KUBE-SERVICES -d {}/32 -p udp -m udp --dport {} -j KUBE-SVC-{}", addressOf(service),
             unsigned{servicePort}, service);
        out += choiceOfIptables(service, every());
        for (const unsigned number : every()) {
            line(out, "-A KUBE-SEP-{}-{} -s {}/32 -j KUBE-MARK-MASQ", service, number, endpoint(number));
            line(out, "-A KUBE-SEP-{}-{} -p udp -m udp -j DNAT --to-destination {}:{}", service, number,
                 endpoint(number), unsigned{endpointPort});
        }
    }
    return out + "COMMIT\n";
}

} // namespace tna::test
