// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_ip.hpp"

#include <arpa/inet.h>
#include <array>
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {

/// Empty where the bytes are no address of that family.
std::string prefixText(std::uint8_t family, std::optional<netlink::Bytes> bytes, unsigned length) {
    const std::size_t size = family == 4 ? 4 : 16;
    if (!bytes || bytes->size() != size)
        return {};
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(family == 4 ? AF_INET : AF_INET6, bytes->data(), text.data(), text.size()) == nullptr)
        return {};
    return fmt::format("{}/{}", text.data(), length);
}

const char* scopeText(unsigned char scope) {
    switch (scope) {
    case RT_SCOPE_UNIVERSE:
        return "global";
    case RT_SCOPE_SITE:
        return "site";
    case RT_SCOPE_LINK:
        return "link";
    case RT_SCOPE_HOST:
        return "host";
    default:
        return "other";
    }
}

const char* actionText(unsigned char action) {
    static constexpr std::array names{"unspec", "lookup",    "goto",        "nop",     "res3",
                                      "res4",   "blackhole", "unreachable", "prohibit"};
    return action < names.size() ? names[action] : "unknown";
}

std::string selectorText(std::uint8_t family, const fib_rule_hdr& header,
                         const netlink::Attributes& attributes) {
    std::string text;
    const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
    if ((header.flags & FIB_RULE_INVERT) != 0)
        add("not");
    if (header.src_len != 0)
        add("from " + prefixText(family, attributes.find(FRA_SRC), header.src_len));
    if (header.dst_len != 0)
        add("to " + prefixText(family, attributes.find(FRA_DST), header.dst_len));
    if (header.tos != 0)
        add(fmt::format("tos {:#x}", header.tos));
    if (const auto mark = attributes.value<std::uint32_t>(FRA_FWMARK); mark && *mark != 0)
        add(fmt::format("fwmark {:#x}/{:#x}", *mark,
                        attributes.value<std::uint32_t>(FRA_FWMASK).value_or(0xffffffff)));
    if (attributes.has(FRA_IIFNAME))
        add("iif " + attributes.text(FRA_IIFNAME));
    if (attributes.has(FRA_OIFNAME))
        add("oif " + attributes.text(FRA_OIFNAME));
    if (attributes.value<std::uint8_t>(FRA_L3MDEV).value_or(0) != 0)
        add("l3mdev");
    if (const auto users = attributes.value<fib_rule_uid_range>(FRA_UID_RANGE))
        add(fmt::format("uidrange {}-{}", users->start, users->end));
    if (const auto protocol = attributes.value<std::uint8_t>(FRA_IP_PROTO); protocol && *protocol != 0)
        add(fmt::format("ipproto {}", *protocol));
    if (const auto ports = attributes.value<fib_rule_port_range>(FRA_SPORT_RANGE))
        add(fmt::format("sport {}-{}", ports->start, ports->end));
    if (const auto ports = attributes.value<fib_rule_port_range>(FRA_DPORT_RANGE))
        add(fmt::format("dport {}-{}", ports->start, ports->end));
    return text;
}

} // namespace

std::uint8_t ipFamily(unsigned char family) {
    return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0;
}

std::optional<AddressMessage> decodeAddress(const netlink::Message& message) {
    const auto header = message.header<ifaddrmsg>();
    const auto attributes = message.attributes<ifaddrmsg>();
    if (!header || !attributes || header->ifa_index == 0 || ipFamily(header->ifa_family) == 0)
        return std::nullopt;
    AddressMessage decoded{message.type == RTM_DELADDR, header->ifa_index, {}};
    auto& address = decoded.address;
    address.family = ipFamily(header->ifa_family);
    // On point-to-point links IFA_ADDRESS is the peer's; IFA_LOCAL is then the own one.
    const auto own = attributes->has(IFA_LOCAL) ? attributes->find(IFA_LOCAL) : attributes->find(IFA_ADDRESS);
    address.prefix = prefixText(address.family, own, header->ifa_prefixlen);
    address.scope = scopeText(header->ifa_scope);
    return address.prefix.empty() ? std::nullopt : std::optional(decoded);
}

std::optional<model::Rule> decodeRule(const netlink::Message& message) {
    const auto header = message.header<fib_rule_hdr>();
    const auto attributes = message.attributes<fib_rule_hdr>();
    if (!header || !attributes || ipFamily(header->family) == 0)
        return std::nullopt;
    model::Rule rule;
    rule.family = ipFamily(header->family);
    rule.table = header->table;
    attributes->take(FRA_TABLE, rule.table);
    attributes->take(FRA_PRIORITY, rule.priority);
    rule.action = actionText(header->action);
    rule.selector = selectorText(rule.family, *header, *attributes);
    return rule;
}

std::optional<RouteMessage> decodeRoute(const netlink::Message& message) {
    static constexpr std::array names{"unspec",   "unicast",   "local",     "broadcast",
                                      "anycast",  "multicast", "blackhole", "unreachable",
                                      "prohibit", "throw",     "nat",       "xresolve"};
    const auto header = message.header<rtmsg>();
    const auto attributes = message.attributes<rtmsg>();
    if (!header || !attributes || ipFamily(header->rtm_family) == 0 ||
        (header->rtm_flags & RTM_F_CLONED) != 0)
        return std::nullopt;
    RouteMessage route{ipFamily(header->rtm_family), header->rtm_table, "unknown"};
    attributes->take(RTA_TABLE, route.table);
    if (header->rtm_type < names.size())
        route.type = names[header->rtm_type];
    return route;
}

std::optional<NetconfMessage> decodeNetconf(const netlink::Message& message) {
    const auto header = message.header<netconfmsg>();
    const auto attributes = message.attributes<netconfmsg>();
    if (!header || !attributes || ipFamily(header->ncm_family) == 0)
        return std::nullopt;
    const auto ifindex = attributes->value<std::int32_t>(NETCONFA_IFINDEX);
    if (!ifindex || *ifindex == 0)
        return std::nullopt;
    return NetconfMessage{message.type == RTM_DELNETCONF,
                          ipFamily(header->ncm_family),
                          *ifindex,
                          attributes->value<std::int32_t>(NETCONFA_FORWARDING),
                          attributes->value<std::int32_t>(NETCONFA_RP_FILTER),
                          attributes->value<std::int32_t>(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN)};
}

std::optional<NeighbourMessage> decodeNeighbour(const netlink::Message& message) {
    const auto header = message.header<ndmsg>();
    const auto attributes = message.attributes<ndmsg>();
    if (!header || !attributes || header->ndm_ifindex <= 0)
        return std::nullopt;
    // br_fdb's fdb_fill_info always names the bridge; the address lists of devices (NTF_SELF) never do.
    return NeighbourMessage{header->ndm_family, static_cast<model::IfIndex>(header->ndm_ifindex),
                            attributes->value<std::uint32_t>(NDA_MASTER).value_or(0), header->ndm_state};
}

} // namespace tna::introspect
