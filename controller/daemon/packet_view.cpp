// SPDX-License-Identifier: Apache-2.0
#include "daemon/packet_view.hpp"

#include "model/mac.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <string>

namespace tna::daemon {

namespace {
using nlohmann::json;
using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t addressesLength = 12;
constexpr std::size_t ipv4Header = 20;
constexpr std::size_t ipv6Header = 40;

unsigned word(Bytes bytes, std::size_t at) {
    return static_cast<unsigned>(bytes[at] << 8U | bytes[at + 1]);
}

std::string macText(Bytes bytes) {
    model::MacAddress mac;
    std::ranges::copy(bytes, mac.bytes.begin());
    return mac.text();
}

std::string addressText(int family, const std::uint8_t* address) {
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(family, address, text, sizeof(text));
    return text;
}

json protocolName(unsigned protocol) {
    switch (protocol) {
    case IPPROTO_ICMP:
        return "icmp";
    case IPPROTO_TCP:
        return "tcp";
    case IPPROTO_UDP:
        return "udp";
    case IPPROTO_ICMPV6:
        return "icmp6";
    default:
        return protocol;
    }
}

void addPorts(json& view, unsigned protocol, Bytes segment) {
    if ((protocol != IPPROTO_TCP && protocol != IPPROTO_UDP) || segment.size() < 4)
        return;
    view["source_port"] = word(segment, 0);
    view["destination_port"] = word(segment, 2);
}

void addIpv4(json& view, Bytes packet) {
    const std::size_t header = (packet[0] & 15U) * 4U;
    view["source"] = addressText(AF_INET, &packet[12]);
    view["destination"] = addressText(AF_INET, &packet[16]);
    view["protocol"] = protocolName(packet[9]);
    view["hops_left"] = packet[8];
    const bool first = (word(packet, 6) & 0x1fffU) == 0;
    if (first && packet.size() > header)
        addPorts(view, packet[9], packet.subspan(header));
}

void addIpv6(json& view, Bytes packet) {
    view["source"] = addressText(AF_INET6, &packet[8]);
    view["destination"] = addressText(AF_INET6, &packet[24]);
    view["protocol"] = protocolName(packet[6]);
    view["hops_left"] = packet[7];
    addPorts(view, packet[6], packet.subspan(ipv6Header));
}
} // namespace

json viewPacket(std::span<const std::uint8_t> head) {
    std::string hex;
    for (const auto byte : head)
        hex += fmt::format("{:02x}", byte);
    json view{{"head", hex}};
    if (head.size() < ETH_HLEN)
        return view;
    view["destination_mac"] = macText(head.first(ETH_ALEN));
    view["source_mac"] = macText(head.subspan(ETH_ALEN, ETH_ALEN));
    json tags = json::array();
    auto at = addressesLength;
    auto type = word(head, at);
    while ((type == ETH_P_8021Q || type == ETH_P_8021AD) && head.size() >= at + 6) {
        const auto tci = word(head, at + 2);
        tags.push_back({{"protocol", type == ETH_P_8021Q ? "802.1Q" : "802.1ad"},
                        {"id", tci & 0xfffU},
                        {"priority", tci >> 13U}});
        at += 4;
        type = word(head, at);
    }
    view["tags"] = tags;
    view["ether_type"] = fmt::format("0x{:04x}", type);
    const auto packet = head.subspan(at + 2);
    if (type == ETH_P_IP && packet.size() >= ipv4Header)
        addIpv4(view, packet);
    else if (type == ETH_P_IPV6 && packet.size() >= ipv6Header)
        addIpv6(view, packet);
    return view;
}

} // namespace tna::daemon
