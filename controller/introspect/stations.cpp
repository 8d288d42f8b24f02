// SPDX-License-Identifier: Apache-2.0
#include "introspect/stations.hpp"

#include "introspect/decode_station.hpp"

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {
/// A dump in pieces leaves out an entry when one before it goes (the kernel counts entries to find its place
/// again): then it is repeated, so often. An entry that is left out for good costs speed only.
constexpr int readAttempts = 3;
} // namespace

Result<Stations> Stations::open(std::size_t receiveBuffer) {
    auto requests = netlink::Socket::open(NETLINK_ROUTE);
    if (!requests)
        return std::unexpected(requests.error());
    auto events = netlink::Socket::open(NETLINK_ROUTE, receiveBuffer);
    if (!events)
        return std::unexpected(events.error());
    if (auto joined = events->join({RTNLGRP_NEIGH}); !joined)
        return std::unexpected(joined.error());
    return Stations(std::move(*requests), std::move(*events));
}

void Stations::apply(const model::StationChange& change) {
    if (!change.now) {
        if (stations_.erase(change.key) > 0)
            changed_.insert(change.key);
        return;
    }
    const auto [it, fresh] = stations_.try_emplace(change.key, *change.now);
    if (!fresh && it->second == *change.now)
        return;
    it->second = *change.now;
    changed_.insert(change.key);
}

bool Stations::drain() {
    bool removed = false;
    const auto drained = events_.drain([&](const netlink::Message& message) {
        const auto change = decodeStation(message);
        if (!change)
            return;
        ++stats_.events;
        removed |= !change->now;
        apply(*change);
    });
    behind_ = drained.rest;
    complete_ = complete_ && !drained.lost;
    return removed;
}

Result<void> Stations::readAll() {
    ++stats_.readings;
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    netlink::Request request(RTM_GETNEIGH, NLM_F_DUMP, header);
    Keys found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            if (const auto station = decodeStation(message)) {
                found.insert(station->key);
                apply(*station);
            }
        });
    if (outcome.error != 0)
        return failErrno(outcome.error, "cannot read the forwarding databases");
    std::erase_if(stations_, [&](const auto& item) {
        const bool gone = !found.contains(item.first);
        if (gone)
            changed_.insert(item.first);
        return gone;
    });
    return {};
}

Result<void> Stations::process(const std::function<void()>& incomplete) {
    const bool before = complete();
    drain();
    if (before && !complete())
        incomplete();
    // What waits is older than what would be read now: it comes first.
    for (int attempt = 0; attempt < readAttempts && !complete_ && !behind_; attempt++) {
        if (auto done = readAll(); !done)
            return done;
        // Who listens before reading, and takes in afterwards what was announced meanwhile, misses nothing.
        complete_ = true;
        const bool removed = drain();
        if (removed && !behind_ && attempt + 1 < readAttempts)
            complete_ = false;
    }
    return {};
}

std::vector<model::StationChange> Stations::take() {
    std::vector<model::StationChange> changes;
    changes.reserve(changed_.size());
    for (const auto& key : std::exchange(changed_, {})) {
        const auto it = stations_.find(key);
        changes.push_back({key, it == stations_.end() ? std::nullopt : std::optional(it->second)});
    }
    return changes;
}

} // namespace tna::introspect
