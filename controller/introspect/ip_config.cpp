// SPDX-License-Identifier: Apache-2.0
#include "introspect/ip_config.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

void IpConfig::apply(const AddressMessage& decoded) {
    auto* link = tracker_.find(decoded.ifindex);
    if (link == nullptr)
        return;
    auto& addresses = link->addresses;
    std::erase_if(addresses, [&](const model::Address& address) {
        return address.family == decoded.address.family && address.prefix == decoded.address.prefix;
    });
    if (decoded.removed)
        return;
    // Sorted, so that the order of announcements does not matter.
    const auto key = [](const model::Address& address) { return std::pair(address.family, address.prefix); };
    addresses.insert(std::ranges::upper_bound(addresses, key(decoded.address), {}, key), decoded.address);
}

void IpConfig::apply(const NetconfMessage& decoded) {
    if (decoded.ifindex < 0) {
        const std::string scope = decoded.ifindex == NETCONFA_IFINDEX_ALL ? "all" : "default";
        const auto prefix = fmt::format("net.ipv{}.conf.{}.", decoded.family, scope);
        if (decoded.forwarding)
            tracker_.setSysctl(prefix + "forwarding", std::to_string(*decoded.forwarding));
        if (decoded.reversePathFilter && decoded.family == 4)
            tracker_.setSysctl(prefix + "rp_filter", std::to_string(*decoded.reversePathFilter));
        if (decoded.ignoreRoutesWithLinkDown && decoded.family == 4)
            tracker_.setSysctl(prefix + "ignore_routes_with_linkdown",
                               std::to_string(*decoded.ignoreRoutesWithLinkDown));
        return;
    }
    auto* link = tracker_.find(static_cast<model::IfIndex>(decoded.ifindex));
    if (link == nullptr)
        return;
    if (decoded.forwarding)
        (decoded.family == 4 ? link->ip.forwarding4 : link->ip.forwarding6) = *decoded.forwarding != 0;
    if (decoded.reversePathFilter && decoded.family == 4)
        link->ip.reversePathFilter = static_cast<std::uint8_t>(*decoded.reversePathFilter);
    if (decoded.ignoreRoutesWithLinkDown && decoded.family == 4)
        link->ip.ignoreRoutesWithLinkDown = *decoded.ignoreRoutesWithLinkDown != 0;
}

void IpConfig::applyWaiting() {
    std::erase_if(waiting_, [&](const auto& item) {
        if (tracker_.network().link(item.first) == nullptr)
            return false;
        apply(item.second);
        return true;
    });
}

bool IpConfig::onAddress(const netlink::Message& message) {
    const auto decoded = decodeAddress(message);
    if (decoded)
        apply(*decoded);
    return decoded.has_value();
}

bool IpConfig::onNetconf(const netlink::Message& message) {
    const auto decoded = decodeNetconf(message);
    if (!decoded)
        return false;
    const auto ifindex = static_cast<model::IfIndex>(decoded->ifindex);
    if (decoded->removed)
        waiting_.erase(ifindex);
    else if (decoded->ifindex < 0 || tracker_.network().link(ifindex) != nullptr)
        apply(*decoded);
    else
        waiting_.emplace(ifindex, *decoded);
    return true;
}

Result<void> IpConfig::settle() {
    applyWaiting();
    return std::exchange(rulesStale_, false) ? readRules() : Result<void>{};
}

Result<void> IpConfig::readRules() {
    netlink::Request request(RTM_GETRULE, NLM_F_DUMP, fib_rule_hdr{});
    std::vector<model::Rule> rules;
    const auto outcome = requests_.dump(
        request, [&] { rules.clear(); },
        [&](const netlink::Message& message) {
            if (auto rule = decodeRule(message))
                rules.push_back(std::move(*rule));
        });
    // Kernels without CONFIG_IP_MULTIPLE_TABLES have no rules to read.
    if (outcome.error != 0 && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the routing rules");
    tracker_.replace(&model::Network::rules, std::move(rules));
    return {};
}

Result<void> IpConfig::readAddresses() {
    netlink::Request request(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{});
    const auto forget = [&] {
        for (const auto& [ifindex, link] : tracker_.network().links)
            if (!link.addresses.empty())
                tracker_.edit(ifindex).addresses.clear();
    };
    const auto outcome = requests_.dump(request, forget, [&](const netlink::Message& message) {
        if (const auto decoded = decodeAddress(message))
            apply(*decoded);
    });
    if (outcome.error != 0)
        return failErrno(outcome.error, "cannot read the addresses");
    return {};
}

Result<void> IpConfig::readNetconf(unsigned char family) {
    netconfmsg header{};
    header.ncm_family = family;
    netlink::Request request(RTM_GETNETCONF, NLM_F_DUMP, header);
    const auto outcome = requests_.dump(
        request, [] {},
        [&](const netlink::Message& message) {
            if (const auto decoded = decodeNetconf(message))
                apply(*decoded);
        });
    if (outcome.error != 0 && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the forwarding settings of links");
    return {};
}

Result<void> IpConfig::readAll() {
    waiting_.clear();
    rulesStale_ = false;
    if (auto done = readAddresses(); !done)
        return done;
    for (const unsigned char family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}})
        if (auto done = readNetconf(family); !done)
            return done;
    return readRules();
}

} // namespace tna::introspect
