// SPDX-License-Identifier: Apache-2.0
#include "introspect/connection_change.hpp"

#include "netlink/socket.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <fstream>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>
#include <string>

namespace tna::introspect {

namespace {
using netlink::Request;

template <typename T>
std::span<const std::uint8_t> bytesOf(const T& value) {
    return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

void putEnds(Request& request, const tna_stream& of) {
    request.nest(CTA_TUPLE_ORIG, [&](Request& tuple) {
        tuple.nest(CTA_TUPLE_IP, [&](Request& ip) {
            if (of.ipv6 != 0) {
                ip.put(CTA_IP_V6_SRC, bytesOf(of.source));
                ip.put(CTA_IP_V6_DST, bytesOf(of.destination));
            } else {
                ip.put(CTA_IP_V4_SRC, of.source[0]);
                ip.put(CTA_IP_V4_DST, of.destination[0]);
            }
        });
        tuple.nest(CTA_TUPLE_PROTO, [&](Request& protocol) {
            protocol.put(CTA_PROTO_NUM, bytesOf(std::uint8_t{IPPROTO_TCP}));
            protocol.put(CTA_PROTO_SRC_PORT, bytesOf(of.source_port));
            protocol.put(CTA_PROTO_DST_PORT, bytesOf(of.destination_port));
        });
    });
}

/// For one direction; what is not in the mask stays.
nf_ct_tcp_flags flagsOf(const ConnectionChange& change, std::size_t direction) {
    nf_ct_tcp_flags flags{};
    if (change.liberal)
        flags.flags = flags.mask = IP_CT_TCP_FLAG_BE_LIBERAL;
    if (change.unacknowledged) {
        flags.mask |= IP_CT_TCP_FLAG_DATA_UNACKNOWLEDGED;
        if (change.unacknowledged->at(direction))
            flags.flags |= IP_CT_TCP_FLAG_DATA_UNACKNOWLEDGED;
    }
    return flags;
}

void readNumber(const char* name, std::uint32_t& into) {
    std::ifstream file(std::string{"/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_"} + name);
    std::uint32_t number = 0;
    if (file >> number)
        into = number;
}
} // namespace

namespace {
/// How the connection is, as far as there is one.
struct Now {
    std::optional<std::uint8_t> state;
    std::uint32_t timeout = 0;
};
Now stateOf(netlink::Socket& socket, const nfgenmsg& header, const tna_stream& of) {
    Request request(NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET, NLM_F_ACK, header);
    putEnds(request, of);
    Now now;
    (void)socket.exchange(request, [&](const netlink::Message& message) {
        const auto attributes = message.attributes<nfgenmsg>();
        const auto info = attributes ? attributes->nested(CTA_PROTOINFO) : std::nullopt;
        const auto tcp = info ? info->nested(CTA_PROTOINFO_TCP) : std::nullopt;
        if (tcp)
            now.state = tcp->value<std::uint8_t>(CTA_PROTOINFO_TCP_STATE);
        if (const auto left = attributes ? attributes->value<std::uint32_t>(CTA_TIMEOUT) : std::nullopt)
            now.timeout = ntohl(*left);
    });
    return now;
}
} // namespace

Result<void> changeConnection(const ConnectionChange& change) {
    const nfgenmsg header{static_cast<std::uint8_t>(change.of.ipv6 != 0 ? AF_INET6 : AF_INET), NFNETLINK_V0,
                          0};
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return std::unexpected(socket.error());
    const auto now = change.timeout ? stateOf(*socket, header, change.of) : Now{};
    if (change.timeout && now.state != TCP_CONNTRACK_ESTABLISHED)
        return {};
    Request request(NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW, NLM_F_ACK, header);
    putEnds(request, change.of);
    if (change.timeout && (!change.shortens || *change.timeout < now.timeout))
        request.put(CTA_TIMEOUT, htonl(*change.timeout));
    request.nest(CTA_PROTOINFO, [&](Request& info) {
        info.nest(CTA_PROTOINFO_TCP, [&](Request& tcp) {
            if (change.closed)
                tcp.put(CTA_PROTOINFO_TCP_STATE, bytesOf(std::uint8_t{TCP_CONNTRACK_CLOSE}));
            tcp.put(CTA_PROTOINFO_TCP_FLAGS_ORIGINAL, bytesOf(flagsOf(change, 0)));
            tcp.put(CTA_PROTOINFO_TCP_FLAGS_REPLY, bytesOf(flagsOf(change, 1)));
        });
    });
    const auto outcome = socket->exchange(request, [](const netlink::Message&) {});
    if (outcome.error != 0 && outcome.error != ENOENT && outcome.error != ETIME) // it is gone, or going
        return failErrno(outcome.error, "cannot change the entry of a connection");
    return {};
}

TcpTimeouts readTcpTimeouts() {
    TcpTimeouts timeouts;
    readNumber("established", timeouts.established);
    readNumber("unacknowledged", timeouts.unacknowledged);
    readNumber("max_retrans", timeouts.retransmitted);
    readNumber("close", timeouts.closed);
    return timeouts;
}

} // namespace tna::introspect
