// SPDX-License-Identifier: Apache-2.0
#include "introspect/proc.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <sstream>
#include <sys/stat.h>

namespace tna::introspect {

namespace {

// Those of net.ipv4.conf.* that are announced come by RTM_NEWNETCONF.
constexpr std::array sysctls{"net.bridge.bridge-nf-call-iptables",
                             "net.bridge.bridge-nf-call-ip6tables",
                             "net.bridge.bridge-nf-call-arptables",
                             "net.bridge.bridge-nf-filter-vlan-tagged",
                             "net.bridge.bridge-nf-filter-pppoe-tagged",
                             "net.bridge.bridge-nf-pass-vlan-input-dev",
                             "net.ipv4.ip_forward",
                             "net.ipv4.conf.all.forwarding",
                             "net.ipv4.conf.all.rp_filter",
                             "net.ipv4.conf.default.rp_filter",
                             "net.ipv6.conf.all.forwarding",
                             "net.ipv6.conf.all.disable_ipv6",
                             "net.ipv4.fib_multipath_hash_policy",
                             "net.ipv6.fib_multipath_hash_policy",
                             "net.ipv4.conf.all.ignore_routes_with_linkdown"};

std::string pathOf(std::string name) {
    std::ranges::replace(name, '.', '/');
    return "/proc/sys/" + name;
}

void readSysctls(Tracker& tracker) {
    for (const std::string name : sysctls) {
        auto content = readFile(pathOf(name));
        if (!content) {
            if (content.error().number != ENOENT) // the kernel does not have it
                tracker.setSysctl(name, "unreadable");
            continue;
        }
        while (!content->empty() && content->back() == '\n')
            content->pop_back();
        tracker.setSysctl(name, *content);
    }
}

void readLegacyTables(Tracker& tracker) {
    static constexpr std::array<std::pair<const char*, const char*>, 3> families{
        {{"ip", "ip_tables_names"}, {"ip6", "ip6_tables_names"}, {"arp", "arp_tables_names"}}};
    model::Netfilter netfilter = tracker.network().netfilter;
    netfilter.legacyTables.clear();
    for (const auto& [family, file] : families) {
        // Not /proc/net: that is the network namespace of the process's first thread.
        std::istringstream names(readFile(std::string("/proc/thread-self/net/") + file).value_or(""));
        for (std::string name; names >> name;)
            netfilter.legacyTables.insert(std::string(family) + ' ' + name);
    }
    tracker.replace(&model::Network::netfilter, std::move(netfilter));
}

/// Of packet sockets for one protocol Linux asks after the bridge has taken its frames; only those for all
/// protocols (ETH_P_ALL) come before.
void readPacketSockets(Tracker& tracker) {
    const auto list = readFile("/proc/thread-self/net/packet");
    std::istringstream lines(list.value_or(""));
    std::set<model::IfIndex> captures;
    // Without the file the kernel has no packet sockets; a list that cannot be read may name any device.
    if (!list && list.error().number != ENOENT)
        captures.insert(0);
    std::string line;
    std::getline(lines, line); // sk RefCnt Type Proto Iface R Rmem User Inode
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string socket;
        std::string references;
        std::string type;
        std::string protocol;
        model::IfIndex ifindex = 0;
        if (words >> socket >> references >> type >> protocol >> ifindex && protocol == "0003")
            captures.insert(ifindex);
    }
    tracker.replace(&model::Network::captures, std::move(captures));
}

bool same(const NetNamespace& a, const NetNamespace& b) {
    struct stat first{};
    struct stat second{};
    return fstat(a.fd(), &first) == 0 && fstat(b.fd(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

} // namespace

Result<Proc> Proc::open() {
    auto home = NetNamespace::current();
    if (!home)
        return std::unexpected(home.error());
    return Proc(std::move(*home));
}

Result<void> Proc::atHome(const std::function<void()>& read) const {
    const auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    std::optional<NamespaceScope> scope;
    if (!same(*here, home_)) {
        auto entered = NamespaceScope::enter(home_);
        if (!entered)
            return std::unexpected(entered.error());
        scope.emplace(std::move(*entered));
    }
    read();
    return {};
}

Result<void> Proc::read(Tracker& tracker) const {
    return atHome([&] {
        readSysctls(tracker);
        readLegacyTables(tracker);
        readPacketSockets(tracker);
    });
}

Result<void> Proc::readCaptures(Tracker& tracker) const {
    return atHome([&] { readPacketSockets(tracker); });
}

} // namespace tna::introspect
