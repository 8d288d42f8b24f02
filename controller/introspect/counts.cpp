// SPDX-License-Identifier: Apache-2.0
#include "introspect/counts.hpp"

#include "introspect/decode_ip.hpp"

#include <cerrno>
#include <chrono>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {

constexpr auto slice = std::chrono::milliseconds(5);

} // namespace

Result<void> FdbCount::count(model::IfIndex port) {
    // An ifinfomsg instead of an ndmsg: then the kernel takes the index as a filter (valid_fdb_dump_legacy).
    ifinfomsg header{};
    header.ifi_family = AF_BRIDGE;
    header.ifi_index = static_cast<int>(port);
    netlink::Request request(RTM_GETNEIGH, NLM_F_DUMP, header);
    std::map<model::IfIndex, model::FdbSummary> counted;
    const auto outcome = requests_.dump(
        request, [&] { counted.clear(); },
        [&](const netlink::Message& message) {
            const auto entry = decodeNeighbour(message);
            if (!entry || entry->master == 0 || entry->ifindex != port)
                return;
            auto& summary = counted[entry->master];
            ++((entry->state & (NUD_PERMANENT | NUD_NOARP)) != 0 ? summary.permanent : summary.dynamic);
        });
    // The port may have gone since the round began.
    if (outcome.error != 0 && outcome.error != ENODEV && outcome.error != EOPNOTSUPP)
        return failErrno(outcome.error, "cannot read the forwarding database at link {}", port);
    for (const auto& [bridge, summary] : counted) {
        found_[bridge].dynamic += summary.dynamic;
        found_[bridge].permanent += summary.permanent;
    }
    return {};
}

Result<bool> FdbCount::step() {
    if (left_.empty()) {
        found_.clear();
        for (const auto& [ifindex, link] : tracker_.network().links)
            if (link.bridge || link.bridgePort)
                left_.push_back(ifindex);
    }
    const auto end = std::chrono::steady_clock::now() + slice;
    while (!left_.empty() && std::chrono::steady_clock::now() < end) {
        const auto port = left_.back();
        left_.pop_back();
        if (auto done = count(port); !done) {
            left_.clear();
            return std::unexpected(done.error());
        }
    }
    if (!left_.empty())
        return false;
    tracker_.replaceCounts(&model::Network::fdb, std::exchange(found_, {}));
    return true;
}

Result<bool> countNeighbours(netlink::Socket& requests, Tracker& tracker) {
    netlink::Request request(RTM_GETNEIGH, NLM_F_DUMP, ndmsg{});
    std::map<model::IfIndex, model::NeighbourSummary> found;
    const auto outcome = requests.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            const auto entry = decodeNeighbour(message);
            if (!entry || ipFamily(entry->family) == 0)
                return;
            auto& summary = found[entry->ifindex];
            if ((entry->state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE)) != 0)
                ++summary.reachable;
            else if ((entry->state & NUD_STALE) != 0)
                ++summary.stale;
            else
                ++summary.failed;
        });
    if (outcome.error != 0)
        return failErrno(outcome.error, "cannot read the neighbours");
    tracker.replaceCounts(&model::Network::neighbours, std::move(found));
    return true;
}

Result<bool> countRoutes(netlink::Socket& requests, Tracker& tracker) {
    std::map<std::pair<std::uint8_t, std::uint32_t>, model::RouteTable> found;
    for (const unsigned char family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
        rtmsg header{};
        header.rtm_family = family;
        netlink::Request request(RTM_GETROUTE, NLM_F_DUMP, header);
        const auto forget = [&] {
            std::erase_if(found, [&](const auto& item) { return item.first.first == ipFamily(family); });
        };
        const auto outcome = requests.dump(request, forget, [&](const netlink::Message& message) {
            const auto route = decodeRoute(message);
            if (!route)
                return;
            auto& table = found[{route->family, route->table}];
            table.family = route->family;
            table.table = route->table;
            ++table.byType[route->type];
        });
        if (outcome.error != 0 && outcome.error != EOPNOTSUPP && outcome.error != EAFNOSUPPORT)
            return failErrno(outcome.error, "cannot read the routes");
    }
    std::vector<model::RouteTable> tables;
    tables.reserve(found.size());
    for (auto& [key, table] : found)
        tables.push_back(std::move(table));
    tracker.replaceCounts(&model::Network::routes, std::move(tables));
    return true;
}

} // namespace tna::introspect
