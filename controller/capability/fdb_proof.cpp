// SPDX-License-Identifier: Apache-2.0
#include "capability/fdb_proof.hpp"

#include "netlink/socket.hpp"

#include <cstring>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

namespace tna::capability {

namespace {
constexpr std::uint64_t fdbLocal = 1; // BR_FDB_LOCAL

struct FlagBit {
    std::uint64_t bit;
    bool model::BridgePort::* member;
    const char* name;
};
/// include/linux/if_bridge.h, BR_*
constexpr std::array<FlagBit, 5> portBits = {{{1U << 0U, &model::BridgePort::hairpin, "hairpin"},
                                              {1U << 5U, &model::BridgePort::learning, "learning"},
                                              {1U << 6U, &model::BridgePort::unicastFlood, "flood"},
                                              {1U << 16U, &model::BridgePort::isolated, "isolated"},
                                              {1U << 21U, &model::BridgePort::locked, "locked"}}};

std::optional<model::FdbEntry> decodeEntry(const netlink::Message& message) {
    const auto neighbour = message.header<ndmsg>();
    const auto attributes = message.attributes<ndmsg>();
    if (!neighbour || !attributes)
        return std::nullopt;
    model::FdbEntry entry;
    entry.port = static_cast<model::IfIndex>(neighbour->ndm_ifindex);
    entry.state = neighbour->ndm_state;
    entry.flags = neighbour->ndm_flags;
    const auto mac = attributes->find(NDA_LLADDR);
    if (!mac || mac->size() != entry.mac.bytes.size())
        return std::nullopt;
    std::memcpy(entry.mac.bytes.data(), mac->data(), mac->size());
    attributes->take(NDA_VLAN, entry.vlan);
    attributes->take(NDA_MASTER, entry.bridge);
    return entry.bridge != 0 && entry.bridge != entry.port ? std::optional(entry) : std::nullopt;
}

std::string comparePort(InPlaceReader& reader, const model::Link& link, const model::BridgeOptions& bridge) {
    const auto facts = reader.readPort(link.ifindex);
    if (!facts)
        return facts.error().sentence();
    if (facts->state != static_cast<unsigned>(link.bridgePort->state))
        return fmt::format("the state of port {} reads differently in place", link.name);
    for (const auto& flag : portBits)
        if (((facts->flags & flag.bit) != 0) != (*link.bridgePort).*flag.member)
            return fmt::format("the setting '{}' of port {} reads differently in place", flag.name,
                               link.name);
    if (((facts->bridgeOptions & 1U) != 0) != bridge.vlanFiltering)
        return fmt::format("the options of the bridge of port {} read differently in place", link.name);
    return {};
}

std::string compareEntry(InPlaceReader& reader, const model::FdbEntry& entry) {
    const auto found = reader.readEntry(entry.port, entry.mac, entry.vlan);
    if (!found)
        return found.error().sentence();
    const bool local = (entry.state & NUD_PERMANENT) != 0;
    if (!*found)
        return fmt::format("station {} is not found in place", entry.mac.text());
    if ((*found)->port != entry.port || (((*found)->flags & fdbLocal) != 0) != local)
        return fmt::format("station {} reads differently in place", entry.mac.text());
    return {};
}
} // namespace

Result<std::vector<model::FdbEntry>> dumpFdb(std::size_t most) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    netlink::Request request(RTM_GETNEIGH, NLM_F_DUMP, header);
    std::vector<model::FdbEntry> entries;
    auto asked = netlink::ask(NETLINK_ROUTE, request, [&](const netlink::Message& message) {
        if (const auto entry = decodeEntry(message))
            entries.push_back(*entry);
        // The rest is not asked for: a whole dump of 100,000 entries on 100 ports takes seconds.
        return entries.size() < most;
    });
    if (!asked)
        return std::unexpected(asked.error());
    return entries;
}

Proof proveInPlaceFdb(InPlaceReader& reader, const model::Network& network,
                      const std::vector<model::FdbEntry>& entries) {
    unsigned ports = 0;
    for (const auto& [ifindex, link] : network.links) {
        const auto* bridge = link.bridgePort ? network.link(link.master) : nullptr;
        if (bridge == nullptr || !bridge->bridge)
            continue;
        if (auto difference = comparePort(reader, link, *bridge->bridge); !difference.empty())
            return {{false, difference}, true};
        ports++;
    }
    for (const auto& entry : entries)
        if (auto difference = compareEntry(reader, entry); !difference.empty())
            return {{false, difference}, true};
    if (ports == 0 || entries.empty())
        return {{false, "not proved yet: there is no bridge port to compare with"}, false};
    return {{true, fmt::format("{} stations on {} ports read alike in place and over netlink", entries.size(),
                               ports)},
            false};
}

} // namespace tna::capability
