// SPDX-License-Identifier: Apache-2.0
#include "daemon/recheck.hpp"

#include <algorithm>
#include <array>

namespace tna::daemon {

namespace {
// Where the kernel's source was asked: rtnetlink_event() for links, inet_netconf_notify_devconf() and
// inet6_netconf_notify_devconf() for conf/*, qdisc_notify(), tfilter_notify(), netdev_genl_dev_notify()
// (since 6.3; not used: reading is as cheap), dev_xdp_attach() and bpf_xdp_link_release(), tcx_prog_attach().
constexpr std::array all{
    Fact{"links, bridge and port settings, VLANs, addresses, rules", Noticed::announced,
         "RTM_NEW*, RTM_DEL*"},
    Fact{"offloads (ethtool -K)", Noticed::announced, "RTM_NEWLINK, then asked of ethtool"},
    Fact{"conf/*: forwarding, rp_filter, ignore_routes_with_linkdown", Noticed::announced, "RTM_NEWNETCONF"},
    Fact{"queueing disciplines, tc filters", Noticed::announced,
         "RTM_NEWQDISC, RTM_NEWTFILTER; those that the kernel attaches: with their link"},
    Fact{"nftables", Noticed::announced, "NFNLGRP_NFTABLES; with the new name of a device"},
    Fact{"IPsec policies", Noticed::announced, "XFRMNLGRP_POLICY"},
    Fact{"an XDP program attached or detached by netlink", Noticed::announced, "RTM_NEWLINK"},
    Fact{"an XDP program attached or detached by a bpf_link", Noticed::again, "RTM_GETLINK"},
    Fact{"a program of our own that somebody has detached", Noticed::again, "bpf_link_info"},
    Fact{"what a driver can do with XDP", Noticed::again, "NETDEV_CMD_DEV_GET; watched: looked for"},
    Fact{"a driver's name, its switch chip, its largest MTU", Noticed::again, "RTM_GETLINK, ethtool"},
    Fact{"other sysctls of net.ipv4 and net.ipv6, those of br_netfilter", Noticed::looked, "/proc/sys/net"},
    Fact{"tables of iptables-legacy", Noticed::looked, "/proc/net/ip_tables_names and its like"},
    Fact{"packet sockets", Noticed::looked, "/proc/net/packet, and when promiscuity changes"},
    Fact{"kernel modules", Noticed::looked, "/sys/module"},
    Fact{"tcx programs, VLAN devices in other namespaces", Noticed::looked,
         "where the kernel is read in place, for every frame"},
    Fact{"redundancy rings (MRP)", Noticed::looked,
         "where the kernel is read in place, for every frame; watched: RTM_GETLINK of bridges"},
    Fact{"bridges that want all frames, for devices on them with addresses of their own", Noticed::looked,
         "where the kernel is read in place, for every frame; watched: RTM_GETLINK of bridges"},
};

/// By the codes of reasons: what assemble decides by facts that are only read again.
constexpr std::array<std::string_view, 3> silent{"foreign-xdp", "no-native-xdp", "switchdev"};
} // namespace

std::span<const Fact> facts() {
    return all;
}

std::set<model::IfIndex> hinderedSilently(const assemble::Plan& plan) {
    std::set<model::IfIndex> found;
    for (const auto& [ifindex, port] : plan.ports)
        if (std::ranges::any_of(port.reasons, [](const auto& reason) {
                return std::ranges::find(silent, reason.code) != silent.end();
            }))
            found.insert(ifindex);
    return found;
}

Recheck::Due Recheck::due(Time now, const std::set<model::IfIndex>& hindered) {
    if (now >= everythingAt_) {
        done(now);
        return Due::everything;
    }
    if (hindered != hindered_) {
        hindered_ = hindered;
        backoff_.reset(now);
    }
    return !hindered_.empty() && backoff_.isDue(now) ? Due::hindered : Due::nothing;
}

} // namespace tna::daemon
