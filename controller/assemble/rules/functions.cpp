// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/functions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <string_view>

namespace tna::assemble::rules {

namespace {
/// Functions of the kernel that do the same with all packets of a connection, by their whole names.
bool treatsFlowsAlike(std::string_view function) {
    static constexpr std::string_view known[] = {
        // connection tracking, and what it needs
        "ipv4_conntrack_in", "ipv6_conntrack_in", "ipv4_conntrack_local", "ipv6_conntrack_local",
        "ipv4_conntrack_defrag", "ipv6_defrag", "nf_confirm", "ipv4_confirm", "ipv6_confirm",
        "nf_ct_bridge_pre", "nf_ct_bridge_in", "nf_ct_bridge_post",
        // address translation: what it does is noted in the connection
        "nf_nat_ipv4_pre_routing", "nf_nat_ipv4_in", "nf_nat_ipv4_out", "nf_nat_ipv4_local_fn",
        "nf_nat_ipv4_local_in", "nf_nat_ipv4_fn", "nf_nat_ipv6_in", "nf_nat_ipv6_out", "nf_nat_ipv6_local_fn",
        "nf_nat_ipv6_local_in", "nf_nat_ipv6_fn",
        // br_netfilter: the same for all packets by its sysctls, which are looked at elsewhere
        "br_nf_pre_routing", "br_nf_local_in", "br_nf_forward", "br_nf_forward_ip", "br_nf_post_routing",
        "ip_sabotage_in",
        // AppArmor: for packets with a mark of theirs (SECMARK) and a socket, which forwarded ones have not
        "apparmor_ip_postroute", "apparmor_ipv4_postroute", "apparmor_ipv6_postroute"};
    return std::ranges::find(known, function) != std::end(known);
}

/// Packets that are forwarded meet neither those of the host's own input nor of its output.
bool meetsForwarded(const model::HookFunction& one) {
    return one.family != model::RuleFamily::bridge &&
           (one.hook == NF_INET_PRE_ROUTING || one.hook == NF_INET_FORWARD ||
            one.hook == NF_INET_POST_ROUTING);
}
} // namespace

bool mayTreatFlowsUnalike(const model::HookFunction& function) {
    return !function.ofTables && !treatsFlowsAlike(function.function);
}

FunctionWords wordsFor(const model::HookFunction& function) {
    // Its own connections, which each packet keeps alive and moves on (ip_vs_conn_put(), ip_vs_set_state()).
    if (function.function.starts_with("ip_vs_"))
        return {
            fmt::format("IPVS ({}) gives answers of its servers other sources, by connections that it alone "
                        "keeps",
                        function.function),
            "all packets that pass here are Linux's as long as IPVS has a service of this protocol "
            "(`ipvsadm -Ln`); kube-proxy has none in the modes nftables and iptables"};
    return {fmt::format("a function that is not known is called here: {}{}",
                        function.function.empty() ? "without a name" : function.function,
                        function.module.empty() ? "" : " of the kernel module " + function.module),
            "nothing can be done about it in the rules"};
}

std::vector<FunctionWords> functionsInTheWay(const std::vector<model::HookFunction>& functions) {
    std::vector<FunctionWords> all;
    for (const auto& one : functions)
        if (meetsForwarded(one) && mayTreatFlowsUnalike(one))
            if (auto words = wordsFor(one); std::ranges::find(all, words) == all.end())
                all.push_back(std::move(words));
    return all;
}

} // namespace tna::assemble::rules
