// SPDX-License-Identifier: Apache-2.0
// What becomes of a packet: what the fast path's own program does with it, beside what the kernel says.
#include "capability/netlink_query.hpp"
#include "daemon/controller.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/ip.h>

namespace tna::daemon {

namespace {
using nlohmann::json;

struct Question {
    in_addr from{};
    in_addr to{};
    model::IfIndex port = 0;    ///< that the packet comes in by
    model::IfIndex arrival = 0; ///< as which Linux receives it: that one, or its bridge
    model::MacAddress station;  ///< of that one
};

Result<in_addr> addressOf(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1)
        return std::unexpected(Error{"'" + text + "' is not an IPv4 address", {}, "for example 192.0.2.1"});
    return address;
}

std::string textOf(const void* address) {
    char text[INET_ADDRSTRLEN] = {};
    return ::inet_ntop(AF_INET, address, text, sizeof(text));
}

std::string macAt(const std::vector<std::uint8_t>& frame, std::size_t at) {
    model::MacAddress mac;
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), mac.bytes.size(), mac.bytes.begin());
    return mac.text();
}

/// Whose frames come from an address, as the kernel knows; nobody's, if it does not.
model::MacAddress neighbourOf(const Question& question) {
    std::array<char, 256> buffer{};
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_GETNEIGH;
    request->nlmsg_flags = NLM_F_REQUEST;
    auto* neighbour = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ndmsg)));
    neighbour->ndm_family = AF_INET;
    neighbour->ndm_ifindex = static_cast<int>(question.arrival);
    mnl_attr_put(request, NDA_DST, sizeof(question.from), &question.from);
    model::MacAddress mac{{2, 0x74, 0x6e, 0x61, 0, 0}};
    (void)capability::queryNetlink(NETLINK_ROUTE, request, [&](const nlmsghdr* message) {
        capability::forEachAttribute(message, sizeof(ndmsg), [&](const nlattr* attribute) {
            if (mnl_attr_get_type(attribute) == NDA_LLADDR &&
                mnl_attr_get_payload_len(attribute) == mac.bytes.size())
                std::memcpy(mac.bytes.data(), mnl_attr_get_payload(attribute), mac.bytes.size());
        });
        return false;
    });
    return mac;
}

/// A packet of UDP, as small as they come, with a long life before it.
std::vector<std::uint8_t> packetFor(const Question& question) {
    const auto sender = neighbourOf(question);
    std::vector<std::uint8_t> frame(ETH_ZLEN);
    std::ranges::copy(question.station.bytes, frame.begin());
    std::ranges::copy(sender.bytes, frame.begin() + ETH_ALEN);
    frame[2 * ETH_ALEN] = ETH_P_IP >> 8;
    iphdr header{};
    header.version = 4;
    header.ihl = 5;
    header.tot_len = htons(ETH_ZLEN - ETH_HLEN);
    header.ttl = IPDEFTTL;
    header.protocol = IPPROTO_UDP;
    header.saddr = question.from.s_addr;
    header.daddr = question.to.s_addr;
    std::array<std::uint16_t, sizeof(header) / 2> words{};
    std::memcpy(words.data(), &header, sizeof(header));
    std::uint32_t sum = 0;
    for (const auto word : words)
        sum += word;
    sum = (sum & 0xffffU) + (sum >> 16U);
    header.check = static_cast<std::uint16_t>(~(sum + (sum >> 16U)));
    std::memcpy(&frame[ETH_HLEN], &header, sizeof(header));
    return frame;
}

const char* typeOf(unsigned char type) {
    constexpr const char* names[] = {"none",      "unicast",   "local",       "broadcast", "anycast",
                                     "multicast", "blackhole", "unreachable", "prohibit",  "throw"};
    return type < std::size(names) ? names[type] : "other";
}

/// RTM_GETROUTE for a packet that comes in.
json askKernel(const Question& question, const model::Network& network) {
    std::array<char, 256> buffer{};
    auto* request = mnl_nlmsg_put_header(buffer.data());
    request->nlmsg_type = RTM_GETROUTE;
    request->nlmsg_flags = NLM_F_REQUEST;
    auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(rtmsg)));
    route->rtm_family = AF_INET;
    route->rtm_dst_len = 32;
    route->rtm_src_len = 32;
    mnl_attr_put(request, RTA_DST, sizeof(question.to), &question.to);
    mnl_attr_put(request, RTA_SRC, sizeof(question.from), &question.from);
    mnl_attr_put_u32(request, RTA_IIF, question.arrival);
    json answer{{"type", nullptr}, {"device", nullptr}, {"gateway", nullptr}, {"error", nullptr}};
    const auto asked = capability::queryNetlink(NETLINK_ROUTE, request, [&](const nlmsghdr* message) {
        answer["type"] = typeOf(static_cast<const rtmsg*>(mnl_nlmsg_get_payload(message))->rtm_type);
        capability::forEachAttribute(message, sizeof(rtmsg), [&](const nlattr* attribute) {
            const bool four = mnl_attr_get_payload_len(attribute) == sizeof(std::uint32_t);
            if (mnl_attr_get_type(attribute) == RTA_OIF && four) {
                const auto* device = network.link(mnl_attr_get_u32(attribute));
                answer["device"] = device != nullptr ? json(device->name) : json();
            }
            if (mnl_attr_get_type(attribute) == RTA_GATEWAY && four)
                answer["gateway"] = textOf(mnl_attr_get_payload(attribute));
        });
        return false;
    });
    if (!asked)
        answer["error"] = asked.error().cause;
    return answer;
}

json describe(const deploy::Verdict& verdict, const model::Network& network) {
    const auto* egress = verdict.egress ? network.link(*verdict.egress) : nullptr;
    if (egress == nullptr)
        return {{"action", "linux"}, {"reason", verdict.code}, {"text", verdict.text}};
    return {{"action", "forward"},
            {"port", egress->name},
            {"destination_mac", macAt(verdict.frame, 0)},
            {"source_mac", macAt(verdict.frame, ETH_ALEN)}};
}
} // namespace

Result<json> Controller::route(const std::string& port, const std::string& from, const std::string& to) {
    const std::lock_guard lock{mutex_};
    const auto& network = introspector_->network();
    const auto planned =
        std::ranges::find_if(plan_.ports, [&](const auto& item) { return item.second.name == port; });
    const auto* link = planned == plan_.ports.end() ? nullptr : network.link(planned->first);
    if (link == nullptr)
        return std::unexpected(
            Error{"'" + port + "' is not a port here", {}, "`tnactl status` lists the ports"});
    const auto source = addressOf(from);
    const auto destination = addressOf(to);
    if (!source || !destination)
        return std::unexpected((!source ? source : destination).error());
    const auto* bridge = link->bridgePort ? network.link(link->master) : nullptr;
    const auto& arrival = bridge != nullptr ? *bridge : *link;
    const Question question{*source, *destination, link->ifindex, arrival.ifindex, arrival.mac};
    json document{{"api", 1},
                  {"to", to},
                  {"from", from},
                  {"port", port},
                  {"received_as", arrival.name},
                  {"kernel", askKernel(question, network)}};
    if (!planned->second.profile) {
        const auto& reasons = planned->second.reasons;
        document["fast_path"] = {{"action", "linux"},
                                 {"reason", reasons.empty() ? "" : reasons.front().code},
                                 {"text", reasons.empty() ? "" : reasons.front().text}};
        return document;
    }
    const auto verdict = loaded_.fastPath->tryFrame(link->ifindex, packetFor(question));
    if (!verdict)
        return std::unexpected(verdict.error());
    document["fast_path"] = describe(*verdict, network);
    return document;
}

} // namespace tna::daemon
