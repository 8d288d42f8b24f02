// SPDX-License-Identifier: Apache-2.0
#include "introspect/summary_decode.hpp"

#include <arpa/inet.h>
#include <array>
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

namespace tna::introspect {

namespace {
std::uint8_t ipVersion(std::uint8_t family) {
    return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

std::string addressText(std::uint8_t family, Bytes bytes) {
    const std::size_t size = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (bytes.size() != size || inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

const char* routeType(std::uint8_t type) {
    static constexpr std::array names = {"unspec",   "unicast",   "local",     "broadcast",
                                         "anycast",  "multicast", "blackhole", "unreachable",
                                         "prohibit", "throw",     "nat",       "xresolve"};
    return type < names.size() ? names[type] : "other";
}

const char* ruleAction(std::uint8_t action) {
    switch (action) {
    case FR_ACT_TO_TBL:
        return "lookup";
    case FR_ACT_GOTO:
        return "goto";
    case FR_ACT_NOP:
        return "nop";
    case FR_ACT_BLACKHOLE:
        return "blackhole";
    case FR_ACT_UNREACHABLE:
        return "unreachable";
    case FR_ACT_PROHIBIT:
        return "prohibit";
    default:
        return "other";
    }
}

const char* scopeName(std::uint8_t scope) {
    switch (scope) {
    case RT_SCOPE_LINK:
        return "link";
    case RT_SCOPE_HOST:
        return "host";
    case RT_SCOPE_SITE:
        return "site";
    default:
        return "global";
    }
}
} // namespace

std::optional<LinkAddress> decodeAddress(const Message& message) {
    const auto header = message.header<ifaddrmsg>();
    if (!header || ipVersion(header->ifa_family) == 0)
        return std::nullopt;
    std::string local;
    forEachAttribute(message.attributes<ifaddrmsg>(), [&](const Attribute& attribute) {
        if (attribute.type == IFA_LOCAL || (attribute.type == IFA_ADDRESS && local.empty()))
            local = addressText(header->ifa_family, attribute.payload);
    });
    if (local.empty())
        return std::nullopt;
    return LinkAddress{header->ifa_index,
                       {ipVersion(header->ifa_family), fmt::format("{}/{}", local, header->ifa_prefixlen),
                        scopeName(header->ifa_scope)}};
}

std::optional<model::Qdisc> decodeQdisc(const Message& message) {
    const auto header = message.header<tcmsg>();
    if (!header || header->tcm_ifindex <= 0)
        return std::nullopt;
    model::Qdisc qdisc{
        static_cast<model::IfIndex>(header->tcm_ifindex), header->tcm_handle, header->tcm_parent, {}};
    forEachAttribute(message.attributes<tcmsg>(), [&](const Attribute& attribute) {
        if (attribute.type == TCA_KIND)
            qdisc.kind = attribute.text();
    });
    return qdisc.kind.empty() ? std::nullopt : std::optional(qdisc);
}

std::optional<RouteKey> decodeRoute(const Message& message) {
    const auto header = message.header<rtmsg>();
    if (!header || ipVersion(header->rtm_family) == 0 || (header->rtm_flags & RTM_F_CLONED) != 0)
        return std::nullopt;
    RouteKey key{ipVersion(header->rtm_family), header->rtm_table, routeType(header->rtm_type)};
    forEachAttribute(message.attributes<rtmsg>(), [&](const Attribute& attribute) {
        if (attribute.type == RTA_TABLE)
            assign(attribute, key.table);
    });
    return key;
}

std::optional<model::Rule> decodeRule(const Message& message) {
    const auto header = message.header<fib_rule_hdr>();
    if (!header || ipVersion(header->family) == 0)
        return std::nullopt;
    model::Rule rule;
    rule.family = ipVersion(header->family);
    rule.table = header->table;
    rule.action = ruleAction(header->action);
    forEachAttribute(message.attributes<fib_rule_hdr>(), [&](const Attribute& attribute) {
        if (attribute.type == FRA_PRIORITY)
            assign(attribute, rule.priority);
        else if (attribute.type == FRA_TABLE)
            assign(attribute, rule.table);
        else if (attribute.type == FRA_SRC)
            rule.selector +=
                fmt::format("from {}/{} ", addressText(header->family, attribute.payload), header->src_len);
        else if (attribute.type == FRA_DST)
            rule.selector +=
                fmt::format("to {}/{} ", addressText(header->family, attribute.payload), header->dst_len);
        else if (attribute.type == FRA_IIFNAME)
            rule.selector += "iif " + attribute.text() + " ";
        else if (attribute.type == FRA_OIFNAME)
            rule.selector += "oif " + attribute.text() + " ";
    });
    if (!rule.selector.empty())
        rule.selector.pop_back();
    return rule;
}

std::optional<Neighbour> decodeNeighbour(const Message& message) {
    const auto header = message.header<ndmsg>();
    if (!header || header->ndm_ifindex <= 0)
        return std::nullopt;
    Neighbour neighbour{header->ndm_family == AF_BRIDGE, static_cast<model::IfIndex>(header->ndm_ifindex), 0,
                        header->ndm_state};
    forEachAttribute(message.attributes<ndmsg>(), [&](const Attribute& attribute) {
        if (attribute.type == NDA_MASTER)
            assign(attribute, neighbour.master);
    });
    return neighbour;
}

} // namespace tna::introspect
