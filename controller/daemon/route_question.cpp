// SPDX-License-Identifier: Apache-2.0
#include "daemon/route_question.hpp"

#include "netlink/socket.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <nlohmann/json.hpp>
#include <span>

namespace tna::daemon {

namespace {
using nlohmann::json;

struct Address {
    int family = AF_INET;
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] std::size_t size() const { return family == AF_INET ? 4 : bytes.size(); }
    [[nodiscard]] std::span<const std::uint8_t> used() const { return {bytes.data(), size()}; }
    [[nodiscard]] std::uint8_t bits() const { return static_cast<std::uint8_t>(8 * size()); }
    void writeTo(std::uint8_t* place) const { std::copy_n(bytes.begin(), size(), place); }
};

struct Question {
    Address from;
    Address to;
    model::IfIndex port = 0;    ///< that the packet comes in by
    model::IfIndex arrival = 0; ///< as which Linux receives it: that one, its bridge, or a VLAN device on it
    model::MacAddress station;  ///< of that one
    std::vector<model::VlanDevice> vlans; ///< whose tags it has, the inner one first
};

Result<Address> addressOf(const std::string& text) {
    for (const int family : {AF_INET, AF_INET6})
        if (Address address{family}; ::inet_pton(family, text.c_str(), address.bytes.data()) == 1)
            return address;
    return std::unexpected(
        Error{"'" + text + "' is not an IP address", {}, "for example 192.0.2.1, or 2001:db8::1"});
}

std::string textOf(int family, const void* address) {
    char text[INET6_ADDRSTRLEN] = {};
    return ::inet_ntop(family, address, text, sizeof(text));
}

std::string macAt(const std::vector<std::uint8_t>& frame, std::size_t at) {
    model::MacAddress mac;
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), mac.bytes.size(), mac.bytes.begin());
    return mac.text();
}

/// Whose frames come from an address, as the kernel knows; nobody's, if it does not.
model::MacAddress neighbourOf(const Question& question) {
    ndmsg neighbour{};
    neighbour.ndm_family = static_cast<std::uint8_t>(question.from.family);
    neighbour.ndm_ifindex = static_cast<int>(question.arrival);
    netlink::Request request(RTM_GETNEIGH, 0, neighbour);
    request.put(NDA_DST, question.from.used());
    model::MacAddress mac{{2, 0x74, 0x6e, 0x61, 0, 0}};
    (void)netlink::ask(NETLINK_ROUTE, request, [&](const netlink::Message& message) {
        const auto attributes = message.attributes<ndmsg>();
        const auto address = attributes ? attributes->find(NDA_LLADDR) : std::nullopt;
        if (address && address->size() == mac.bytes.size())
            std::memcpy(mac.bytes.data(), address->data(), mac.bytes.size());
        return false;
    });
    return mac;
}

void writeIpv4(const Question& question, std::vector<std::uint8_t>& frame) {
    auto* header = &frame[ETH_HLEN];
    header[0] = 0x45; // version, and words of the header
    header[3] = static_cast<std::uint8_t>(frame.size() - ETH_HLEN);
    header[8] = IPDEFTTL;
    header[9] = IPPROTO_UDP;
    question.from.writeTo(header + 12);
    question.to.writeTo(header + 16);
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < sizeof(iphdr); i += 2)
        sum += static_cast<std::uint32_t>(header[i]) << 8U | header[i + 1];
    sum = (sum & 0xffffU) + (sum >> 16U);
    sum = ~(sum + (sum >> 16U));
    header[10] = static_cast<std::uint8_t>(sum >> 8U);
    header[11] = static_cast<std::uint8_t>(sum);
}

void writeIpv6(const Question& question, std::vector<std::uint8_t>& frame) {
    auto* header = &frame[ETH_HLEN];
    header[0] = 0x60;
    header[5] = static_cast<std::uint8_t>(frame.size() - ETH_HLEN - sizeof(ip6_hdr));
    header[6] = IPPROTO_UDP;
    header[7] = IPDEFTTL;
    question.from.writeTo(header + 8);
    question.to.writeTo(header + 24);
}

/// A packet of UDP, a small one, with a long life before it.
std::vector<std::uint8_t> packetFor(const Question& question) {
    const bool ipv4 = question.to.family == AF_INET;
    const auto sender = neighbourOf(question);
    std::vector<std::uint8_t> frame(ipv4 ? ETH_ZLEN : ETH_HLEN + sizeof(ip6_hdr) + sizeof(udphdr));
    std::ranges::copy(question.station.bytes, frame.begin());
    std::ranges::copy(sender.bytes, frame.begin() + ETH_ALEN);
    const unsigned etherType = ipv4 ? ETH_P_IP : ETH_P_IPV6;
    frame[2 * ETH_ALEN] = static_cast<std::uint8_t>(etherType >> 8U);
    frame[2 * ETH_ALEN + 1] = static_cast<std::uint8_t>(etherType);
    if (ipv4)
        writeIpv4(question, frame);
    else
        writeIpv6(question, frame);
    for (const auto& vlan : question.vlans) {
        const unsigned tag = static_cast<unsigned>(vlan.protocol) << 16U | vlan.vid;
        for (const unsigned shift : {0U, 8U, 16U, 24U})
            frame.insert(frame.begin() + 2 * ETH_ALEN, static_cast<std::uint8_t>(tag >> shift));
    }
    return frame;
}

/// The VLAN of a frame that has a tag, and of another one behind it; null for others.
json vlanOf(const std::vector<std::uint8_t>& frame, std::size_t at = std::size_t{2} * ETH_ALEN) {
    const auto word = [&](std::size_t place) {
        return static_cast<unsigned>(frame[place] << 8U | frame[place + 1]);
    };
    if (word(at) != ETH_P_8021Q && word(at) != ETH_P_8021AD)
        return nullptr;
    json vlan{{"protocol", word(at) == ETH_P_8021Q ? "802.1Q" : "802.1ad"}, {"id", word(at + 2) & 0xfffU}};
    if (auto inner = vlanOf(frame, at + 4); !inner.is_null())
        vlan["inner"] = std::move(inner);
    return vlan;
}

/// The VLAN devices through which packets come from a port to a device, beginning with that.
std::vector<model::VlanDevice> vlansBetween(const model::Network& network, const model::Link* device,
                                            const model::Link* port) {
    std::vector<model::VlanDevice> vlans;
    for (; device != nullptr && device != port && device->vlan; device = network.link(device->lower))
        vlans.push_back(*device->vlan);
    return vlans;
}

const char* typeOf(unsigned char type) {
    constexpr const char* names[] = {"none",      "unicast",   "local",       "broadcast", "anycast",
                                     "multicast", "blackhole", "unreachable", "prohibit",  "throw"};
    return type < std::size(names) ? names[type] : "other";
}

/// RTM_GETROUTE for a packet that comes in.
json askKernel(const Question& question, const model::Network& network) {
    rtmsg route{};
    route.rtm_family = static_cast<std::uint8_t>(question.to.family);
    route.rtm_dst_len = question.to.bits();
    route.rtm_src_len = question.from.bits();
    netlink::Request request(RTM_GETROUTE, 0, route);
    request.put(RTA_DST, question.to.used());
    request.put(RTA_SRC, question.from.used());
    request.put(RTA_IIF, question.arrival);
    json answer{{"type", nullptr}, {"device", nullptr}, {"gateway", nullptr}, {"error", nullptr}};
    const auto asked = netlink::ask(NETLINK_ROUTE, request, [&](const netlink::Message& message) {
        const auto found = message.header<rtmsg>();
        const auto attributes = message.attributes<rtmsg>();
        if (!found || !attributes)
            return false;
        answer["type"] = typeOf(found->rtm_type);
        if (const auto egress = attributes->value<std::uint32_t>(RTA_OIF)) {
            const auto* device = network.link(*egress);
            answer["device"] = device != nullptr ? json(device->name) : json();
        }
        if (const auto gateway = attributes->find(RTA_GATEWAY);
            gateway && gateway->size() == question.to.size())
            answer["gateway"] = textOf(question.to.family, gateway->data());
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
            {"source_mac", macAt(verdict.frame, ETH_ALEN)},
            {"vlan", vlanOf(verdict.frame)}};
}
} // namespace

Result<json> answerRoute(const Supervisor& supervisor, const std::string& port, const std::string& from,
                         const std::string& to) {
    const auto& network = supervisor.network();
    const auto& ports = supervisor.plan().ports;
    const auto named =
        std::ranges::find(network.links, port, [](const auto& link) { return link.second.name; });
    const auto* received = named == network.links.end() ? nullptr : &named->second;
    auto planned = ports.find(received == nullptr ? 0 : received->ifindex);
    for (const auto* device = received; planned == ports.end() && device != nullptr && device->vlan;
         device = network.link(device->lower))
        planned = ports.find(device->lower);
    const auto* link = planned == ports.end() ? nullptr : network.link(planned->first);
    if (link == nullptr)
        return std::unexpected(Error{"'" + port + "' is not a port here, nor a VLAN device on one",
                                     {},
                                     "`tnactl status` lists the ports"});
    const auto source = addressOf(from);
    const auto destination = addressOf(to);
    if (!source || !destination)
        return std::unexpected((!source ? source : destination).error());
    if (source->family != destination->family)
        return std::unexpected(Error{"'" + from + "' and '" + to + "' are of different protocols",
                                     {},
                                     "give two IPv4 addresses, or two IPv6 addresses"});
    const auto* bridge = link->bridgePort ? network.link(link->master) : nullptr;
    const auto& arrival = bridge != nullptr ? *bridge : *received;
    const Question question{*source,         *destination, link->ifindex,
                            arrival.ifindex, arrival.mac,  vlansBetween(network, received, link)};
    json document{{"api", 1},
                  {"to", to},
                  {"from", from},
                  {"port", link->name},
                  {"received_as", arrival.name},
                  {"kernel", askKernel(question, network)}};
    if (!planned->second.accelerated()) {
        const auto& reasons = planned->second.reasons;
        document["fast_path"] = {{"action", "linux"},
                                 {"reason", reasons.empty() ? "" : reasons.front().code},
                                 {"text", reasons.empty() ? "" : reasons.front().text}};
        return document;
    }
    const auto verdict = supervisor.dataPath().tryFrame(link->ifindex, packetFor(question));
    if (!verdict)
        return std::unexpected(verdict.error());
    document["fast_path"] = describe(*verdict, network);
    return document;
}

} // namespace tna::daemon
