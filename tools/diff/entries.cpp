// SPDX-License-Identifier: Apache-2.0
#include "diff/entries.hpp"

#include "diff/words.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <memory>
#include <optional>

namespace tna::diff {

namespace {
using What = EntryOrder::What;
constexpr std::pair<const char*, What> names[] = {{"add", What::add},
                                                  {"delete", What::remove},
                                                  {"mark", What::mark},
                                                  {"timeout", What::timeout},
                                                  {"flush", What::flush}};
constexpr std::uint32_t usualTimeout = 600;
constexpr unsigned wordsOfEnds = 6;

std::optional<std::uint32_t> number(const std::string& word, std::uint32_t most) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc{} && end == word.data() + word.size() && value <= most ? std::optional(value)
                                                                                     : std::nullopt;
}

bool isSix(const EntryOrder& order) {
    return order.from.find(':') != std::string::npos;
}

bool isAddress(const std::string& text, bool six) {
    std::array<std::uint8_t, 16> bytes{};
    return ::inet_pton(six ? AF_INET6 : AF_INET, text.c_str(), bytes.data()) == 1;
}

void putAddress(nlmsghdr* request, std::uint16_t attribute, const std::string& text, bool six) {
    std::array<std::uint8_t, 16> bytes{};
    ::inet_pton(six ? AF_INET6 : AF_INET, text.c_str(), bytes.data());
    mnl_attr_put(request, attribute, six ? 16 : 4, bytes.data());
}

void putEnds(nlmsghdr* request, std::uint16_t tuple, const EntryOrder& order, bool reply) {
    const bool six = isSix(order);
    auto* nest = mnl_attr_nest_start(request, tuple);
    auto* ip = mnl_attr_nest_start(request, CTA_TUPLE_IP);
    putAddress(request, six ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, reply ? order.to : order.from, six);
    putAddress(request, six ? CTA_IP_V6_DST : CTA_IP_V4_DST, reply ? order.from : order.to, six);
    mnl_attr_nest_end(request, ip);
    auto* protocol = mnl_attr_nest_start(request, CTA_TUPLE_PROTO);
    mnl_attr_put_u8(request, CTA_PROTO_NUM, order.tcp ? IPPROTO_TCP : IPPROTO_UDP);
    mnl_attr_put_u16(request, CTA_PROTO_SRC_PORT, htons(reply ? order.toPort : order.fromPort));
    mnl_attr_put_u16(request, CTA_PROTO_DST_PORT, htons(reply ? order.fromPort : order.toPort));
    mnl_attr_nest_end(request, protocol);
    mnl_attr_nest_end(request, nest);
}

void putTranslation(nlmsghdr* request, std::uint16_t kind, const EntryOrder::End& end, bool six) {
    if (end.address.empty())
        return;
    auto* nest = mnl_attr_nest_start(request, kind);
    putAddress(request, six ? CTA_NAT_V6_MINIP : CTA_NAT_V4_MINIP, end.address, six);
    putAddress(request, six ? CTA_NAT_V6_MAXIP : CTA_NAT_V4_MAXIP, end.address, six);
    auto* ports = mnl_attr_nest_start(request, CTA_NAT_PROTO);
    mnl_attr_put_u16(request, CTA_PROTONAT_PORT_MIN, htons(end.port));
    mnl_attr_put_u16(request, CTA_PROTONAT_PORT_MAX, htons(end.port));
    mnl_attr_nest_end(request, ports);
    mnl_attr_nest_end(request, nest);
}

void putEstablished(nlmsghdr* request, const EntryOrder& order) {
    putEnds(request, CTA_TUPLE_REPLY, order, true);
    putTranslation(request, CTA_NAT_SRC, order.source, isSix(order));
    putTranslation(request, CTA_NAT_DST, order.destination, isSix(order));
    mnl_attr_put_u32(request, CTA_TIMEOUT, htonl(usualTimeout));
    mnl_attr_put_u32(request, CTA_STATUS, htonl(IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED));
    if (!order.tcp)
        return;
    auto* info = mnl_attr_nest_start(request, CTA_PROTOINFO);
    auto* tcp = mnl_attr_nest_start(request, CTA_PROTOINFO_TCP);
    mnl_attr_put_u8(request, CTA_PROTOINFO_TCP_STATE, TCP_CONNTRACK_ESTABLISHED);
    mnl_attr_nest_end(request, tcp);
    mnl_attr_nest_end(request, info);
}

int ask(const nlmsghdr* request) {
    const std::unique_ptr<mnl_socket, int (*)(mnl_socket*)> socket(
        mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC), mnl_socket_close);
    if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(socket.get(), request, request->nlmsg_len) < 0)
        return errno;
    std::array<char, 4096> answer{};
    if (mnl_socket_recvfrom(socket.get(), answer.data(), answer.size()) < 0)
        return errno;
    const auto* message = reinterpret_cast<const nlmsghdr*>(answer.data());
    return message->nlmsg_type == NLMSG_ERROR
               ? -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message))->error
               : 0;
}
} // namespace

namespace {
/// Takes the last three words, if they say another end.
bool takeEnd(std::vector<std::string>& words, const char* name, EntryOrder::End& end) {
    const auto at = words.size() - std::min<std::size_t>(words.size(), 3);
    if (at < wordsOfEnds || words[at] != name)
        return true;
    const auto port = number(words[at + 2], UINT16_MAX);
    end = {words[at + 1], static_cast<std::uint16_t>(port.value_or(0))};
    words.resize(at);
    return port.has_value();
}
} // namespace

Result<EntryOrder> entryOrder(const std::string& words) {
    auto all = wordsOf(words);
    const auto wrong = [&] { return fail("no entry of connection tracking: '{}'", words); };
    for (const auto& [name, what] : names) {
        if (all.empty() || all[0] != name)
            continue;
        EntryOrder order{.what = what};
        const bool numbered = what == What::mark || what == What::timeout;
        if (what == What::add &&
            !(takeEnd(all, "destination", order.destination) && takeEnd(all, "source", order.source)))
            return wrong();
        if (all.size() != (what == What::flush ? 1 : wordsOfEnds + (numbered ? 1 : 0)))
            return wrong();
        if (what == What::flush)
            return order;
        order.tcp = all[1] == "tcp";
        order.from = all[2];
        order.to = all[4];
        const auto fromPort = number(all[3], UINT16_MAX), toPort = number(all[5], UINT16_MAX);
        const auto value = number(numbered ? all[6] : "0", UINT32_MAX);
        if ((!order.tcp && all[1] != "udp") || !isAddress(order.from, isSix(order)) ||
            !isAddress(order.to, isSix(order)) || !fromPort || !toPort || !value)
            return wrong();
        for (const auto* end : {&order.source, &order.destination})
            if (!end->address.empty() && !isAddress(end->address, isSix(order)))
                return wrong();
        order.fromPort = static_cast<std::uint16_t>(*fromPort);
        order.toPort = static_cast<std::uint16_t>(*toPort);
        order.number = *value;
        return order;
    }
    return wrong();
}

int carryOut(const EntryOrder& order) {
    std::array<char, 4096> buffer{};
    const bool removes = order.what == What::remove || order.what == What::flush;
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_CTNETLINK << 8U |
                                                     (removes ? IPCTNL_MSG_CT_DELETE : IPCTNL_MSG_CT_NEW));
    request->nlmsg_flags = static_cast<std::uint16_t>(
        NLM_F_REQUEST | NLM_F_ACK | (order.what == What::add ? NLM_F_CREATE | NLM_F_EXCL : 0));
    const std::uint8_t family = order.what == What::flush ? AF_UNSPEC : isSix(order) ? AF_INET6 : AF_INET;
    *static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(nfgenmsg))) = {family, NFNETLINK_V0,
                                                                                      0};
    if (order.what != What::flush)
        putEnds(request, CTA_TUPLE_ORIG, order, false);
    if (order.what == What::add)
        putEstablished(request, order);
    if (order.what == What::mark)
        mnl_attr_put_u32(request, CTA_MARK, htonl(order.number));
    if (order.what == What::timeout)
        mnl_attr_put_u32(request, CTA_TIMEOUT, htonl(order.number));
    return ask(request);
}

} // namespace tna::diff
