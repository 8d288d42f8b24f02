// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_station.hpp"

#include "introspect/numbers.hpp"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {
/// Netlink's times are in clock ticks of 1/100 s.
constexpr std::chrono::milliseconds clockTick{10};

model::Station decodeValue(const ndmsg& header, const netlink::Attributes& attributes,
                           model::IfIndex bridge) {
    model::Station station;
    station.port = static_cast<model::IfIndex>(header.ndm_ifindex);
    const auto more = attributes.value<std::uint32_t>(NDA_FLAGS_EXT).value_or(0);
    station.local = (header.ndm_state & NUD_PERMANENT) != 0 || station.port == bridge ||
                    (more & number::ntfExtLocked) != 0;
    station.sticky = (header.ndm_flags & NTF_STICKY) != 0;
    const auto extended = attributes.nested(NDA_FDB_EXT_ATTRS);
    station.inactive = !extended || (extended->value<std::uint8_t>(NFEA_ACTIVITY_NOTIFY).value_or(0) &
                                     FDB_NOTIFY_INACTIVE_BIT) != 0;
    if (const auto times = attributes.value<nda_cacheinfo>(NDA_CACHEINFO))
        station.unused = times->ndm_updated * clockTick;
    return station;
}
} // namespace

std::optional<model::StationChange> decodeStation(const netlink::Message& message) {
    if (message.type != RTM_NEWNEIGH && message.type != RTM_DELNEIGH)
        return std::nullopt;
    const auto header = message.header<ndmsg>();
    const auto attributes = message.attributes<ndmsg>();
    if (!header || !attributes || header->ndm_family != AF_BRIDGE || header->ndm_ifindex <= 0)
        return std::nullopt;
    // The bridge always names itself (fdb_fill_info); the address lists of devices (NTF_SELF) never do.
    const auto bridge = attributes->value<std::uint32_t>(NDA_MASTER).value_or(0);
    const auto mac = attributes->find(NDA_LLADDR);
    model::StationChange change;
    if (bridge == 0 || !mac || mac->size() != change.key.mac.bytes.size())
        return std::nullopt;
    change.key.bridge = bridge;
    change.key.vlan = attributes->value<std::uint16_t>(NDA_VLAN).value_or(0);
    std::memcpy(change.key.mac.bytes.data(), mac->data(), mac->size());
    if (message.type == RTM_NEWNEIGH)
        change.now = decodeValue(*header, *attributes, bridge);
    return change;
}

} // namespace tna::introspect
