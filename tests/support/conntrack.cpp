// SPDX-License-Identifier: Apache-2.0
#include "support/conntrack.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <functional>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <memory>

namespace tna::test {

namespace {
using Buffer = std::array<char, 4096>;

bool isIpv6(const std::string& address) {
    return address.find(':') != std::string::npos;
}

void putAddress(nlmsghdr* request, std::uint16_t ipv4, std::uint16_t ipv6, const std::string& address) {
    in6_addr bytes{};
    ::inet_pton(isIpv6(address) ? AF_INET6 : AF_INET, address.c_str(), &bytes);
    mnl_attr_put(request, isIpv6(address) ? ipv6 : ipv4, isIpv6(address) ? sizeof bytes : sizeof(in_addr),
                 &bytes);
}

void putEnd(nlmsghdr* request, std::uint16_t tuple, const std::string& from, std::uint16_t fromPort,
            const std::string& to, std::uint16_t toPort, std::uint8_t number) {
    auto* nest = mnl_attr_nest_start(request, tuple);
    auto* ip = mnl_attr_nest_start(request, CTA_TUPLE_IP);
    putAddress(request, CTA_IP_V4_SRC, CTA_IP_V6_SRC, from);
    putAddress(request, CTA_IP_V4_DST, CTA_IP_V6_DST, to);
    mnl_attr_nest_end(request, ip);
    auto* protocol = mnl_attr_nest_start(request, CTA_TUPLE_PROTO);
    mnl_attr_put_u8(request, CTA_PROTO_NUM, number);
    mnl_attr_put_u16(request, CTA_PROTO_SRC_PORT, htons(fromPort));
    mnl_attr_put_u16(request, CTA_PROTO_DST_PORT, htons(toPort));
    mnl_attr_nest_end(request, protocol);
    mnl_attr_nest_end(request, nest);
}

nlmsghdr* begin(Buffer& buffer, int message, unsigned flags, const Connection& connection) {
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_CTNETLINK << 8 | message);
    request->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    const auto family = static_cast<std::uint8_t>(isIpv6(connection.from) ? AF_INET6 : AF_INET);
    const nfgenmsg header{family, NFNETLINK_V0, 0};
    *static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(request, sizeof header)) = header;
    putEnd(request, CTA_TUPLE_ORIG, connection.from, connection.fromPort, connection.to, connection.toPort,
           connection.protocol);
    return request;
}

int ask(nlmsghdr* request, const std::function<void(const nlmsghdr*)>& onAnswer = nullptr) {
    const std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket(mnl_socket_open(NETLINK_NETFILTER),
                                                                   mnl_socket_close);
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket.get(), request, request->nlmsg_len) < 0)
        return errno;
    for (;;) {
        Buffer answer{};
        const auto size = mnl_socket_recvfrom(socket.get(), answer.data(), answer.size());
        if (size < 0)
            return errno;
        const auto* message = reinterpret_cast<const nlmsghdr*>(answer.data());
        if (message->nlmsg_type == NLMSG_ERROR)
            return -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message))->error;
        if (onAnswer)
            onAnswer(message);
    }
}

void putTranslation(nlmsghdr* request, std::uint16_t kind, const std::string& to, std::uint16_t port) {
    if (to.empty())
        return;
    auto* nest = mnl_attr_nest_start(request, kind);
    for (const bool least : {true, false})
        putAddress(request, least ? CTA_NAT_V4_MINIP : CTA_NAT_V4_MAXIP,
                   least ? CTA_NAT_V6_MINIP : CTA_NAT_V6_MAXIP, to);
    auto* ports = mnl_attr_nest_start(request, CTA_NAT_PROTO);
    mnl_attr_put_u16(request, CTA_PROTONAT_PORT_MIN, htons(port));
    mnl_attr_put_u16(request, CTA_PROTONAT_PORT_MAX, htons(port));
    mnl_attr_nest_end(request, ports);
    mnl_attr_nest_end(request, nest);
}
} // namespace

int addConnection(const Connection& connection, const EntryWords& words) {
    Buffer buffer{};
    auto* request = begin(buffer, IPCTNL_MSG_CT_NEW, NLM_F_CREATE | NLM_F_EXCL, connection);
    putEnd(request, CTA_TUPLE_REPLY, connection.to, connection.toPort, connection.from, connection.fromPort,
           connection.protocol);
    mnl_attr_put_u32(request, CTA_TIMEOUT, htonl(words.timeout));
    const std::uint32_t status = IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED;
    mnl_attr_put_u32(request, CTA_STATUS, htonl(status));
    if (words.zone != 0)
        mnl_attr_put_u16(request, CTA_ZONE, htons(words.zone));
    putTranslation(request, CTA_NAT_SRC, words.source, words.sourcePort);
    putTranslation(request, CTA_NAT_DST, words.destination, words.destinationPort);
    if (!words.helper.empty()) {
        auto* nest = mnl_attr_nest_start(request, CTA_HELP);
        mnl_attr_put_strz(request, CTA_HELP_NAME, words.helper.c_str());
        mnl_attr_nest_end(request, nest);
    }
    return ask(request);
}

int removeConnection(const Connection& connection) {
    Buffer buffer{};
    return ask(begin(buffer, IPCTNL_MSG_CT_DELETE, 0, connection));
}

int markConnection(const Connection& connection, std::uint32_t mark) {
    Buffer buffer{};
    auto* request = begin(buffer, IPCTNL_MSG_CT_NEW, 0, connection);
    mnl_attr_put_u32(request, CTA_MARK, htonl(mark));
    return ask(request);
}

namespace {
/// A number of an entry, by its attribute.
struct Wanted {
    int attribute;
    std::optional<std::uint32_t> found;
};

std::optional<std::uint32_t> numberOf(const Connection& connection, int attribute) {
    Buffer buffer{};
    Wanted wanted{attribute, {}};
    const int error = ask(begin(buffer, IPCTNL_MSG_CT_GET, 0, connection), [&](const nlmsghdr* message) {
        mnl_attr_parse(
            message, sizeof(nfgenmsg),
            [](const nlattr* one, void* into) {
                auto& number = *static_cast<Wanted*>(into);
                if (mnl_attr_get_type(one) == number.attribute)
                    number.found = ntohl(mnl_attr_get_u32(one));
                return MNL_CB_OK;
            },
            &wanted);
    });
    return error == 0 ? wanted.found : std::nullopt;
}
} // namespace

std::optional<std::uint32_t> timeoutOf(const Connection& connection) {
    return numberOf(connection, CTA_TIMEOUT);
}

bool isAssured(const Connection& connection) {
    return (numberOf(connection, CTA_STATUS).value_or(0) & IPS_ASSURED) != 0;
}

namespace {
/// Each goes one level deeper.
int takeFlags(const nlattr* one, void* into) {
    if (mnl_attr_get_type(one) == CTA_PROTOINFO_TCP_FLAGS_ORIGINAL)
        *static_cast<std::uint8_t*>(into) =
            static_cast<const nf_ct_tcp_flags*>(mnl_attr_get_payload(one))->flags;
    return MNL_CB_OK;
}
int takeTcp(const nlattr* one, void* into) {
    return mnl_attr_get_type(one) == CTA_PROTOINFO_TCP ? mnl_attr_parse_nested(one, takeFlags, into)
                                                       : MNL_CB_OK;
}
int takeProtocol(const nlattr* one, void* into) {
    return mnl_attr_get_type(one) == CTA_PROTOINFO ? mnl_attr_parse_nested(one, takeTcp, into) : MNL_CB_OK;
}
} // namespace

bool isLiberal(const Connection& connection) {
    Buffer buffer{};
    std::uint8_t flags = 0;
    const int error = ask(begin(buffer, IPCTNL_MSG_CT_GET, 0, connection), [&](const nlmsghdr* message) {
        mnl_attr_parse(message, sizeof(nfgenmsg), takeProtocol, &flags);
    });
    return error == 0 && (flags & IP_CT_TCP_FLAG_BE_LIBERAL) != 0;
}

} // namespace tna::test
