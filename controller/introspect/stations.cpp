// SPDX-License-Identifier: Apache-2.0
#include "introspect/stations.hpp"

#include "introspect/decode_station.hpp"

#include <algorithm>
#include <cerrno>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {
/// A dump in pieces leaves out an entry when one before it goes (the kernel counts entries to find its place
/// again): then it is repeated, so often. An entry that is left out for good costs speed only.
constexpr int readAttempts = 3;
/// So much of a comparison is done in one call: some thousand stations.
constexpr int stepsAtOnce = 8;
constexpr const char* unreadable = "cannot read the forwarding databases";
/// No announcement comes later than this after another one that should have come behind it.
constexpr auto lately = std::chrono::seconds(10);
/// In one call, of some microseconds each.
constexpr std::size_t mostQuestions = 1024;
constexpr auto longestAsking = std::chrono::milliseconds(10);

netlink::Request dumpRequest() {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    return {RTM_GETNEIGH, NLM_F_DUMP, header};
}
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
    auto comparing = netlink::Socket::open(NETLINK_ROUTE);
    if (!comparing)
        return std::unexpected(comparing.error());
    return Stations(std::move(*requests), std::move(*events), std::move(*comparing));
}

void Stations::remove(const model::StationKey& key) {
    trust(key);
    removed_.insert(key);
    if (stations_.erase(key) > 0)
        changed_.insert(key);
}

void Stations::apply(const model::StationChange& change) {
    if (!change.now) {
        remove(change.key);
        return;
    }
    const auto [it, fresh] = stations_.try_emplace(change.key, *change.now);
    if (!fresh && it->second == *change.now)
        return;
    it->second = *change.now;
    changed_.insert(change.key);
}

void Stations::doubt(const model::StationKey& key) {
    if (const auto [it, fresh] = doubtful_.try_emplace(key); fresh)
        it->second = questions_.insert(questions_.end(), key);
    changed_.insert(key);
}

void Stations::trust(const model::StationKey& key) {
    const auto it = doubtful_.find(key);
    if (it == doubtful_.end())
        return;
    questions_.erase(it->second);
    doubtful_.erase(it);
}

bool Stations::removedLately(const model::StationKey& key) const {
    return removed_.contains(key) || removedBefore_.contains(key);
}

void Stations::forgetRemoved() {
    const auto now = std::chrono::steady_clock::now();
    if (now < forgetAt_)
        return;
    forgetAt_ = now + lately;
    removedBefore_ = std::exchange(removed_, {});
}

/// What another announcement has said is not simply overwritten.
void Stations::announced(const model::StationChange& change) {
    const auto known = stations_.find(change.key);
    const bool differs =
        known == stations_.end() ? removedLately(change.key) : change.now && known->second != *change.now;
    apply(change);
    if (change.now && differs)
        doubt(change.key);
    if (compared_)
        compared_->insert(change.key);
}

bool Stations::drain() {
    bool removed = false;
    forgetRemoved();
    const auto drained = events_.drain([&](const netlink::Message& message) {
        const auto change = decodeStation(message);
        if (!change)
            return;
        ++stats_.events;
        removed |= !change->now;
        announced(*change);
    });
    behind_ = drained.rest;
    complete_ = complete_ && !drained.lost;
    return removed;
}

Result<void> Stations::readAll() {
    ++stats_.readings;
    auto request = dumpRequest();
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
        return failErrno(outcome.error, unreadable);
    for (const auto& key : missingIn(found))
        remove(key);
    return {};
}

/// What differs may have been announced meanwhile, or may not: Linux is asked again for each.
void Stations::compare(const model::StationChange& station) {
    compared_->insert(station.key);
    const auto known = stations_.find(station.key);
    if (known != stations_.end() && known->second == *station.now)
        return;
    apply(station);
    doubt(station.key);
}

/// What is left of the answers goes with the socket. Nothing but a later attempt can do better.
std::unexpected<Error> Stations::breakOff(int error) {
    compared_.reset();
    suspected_ = true;
    if (auto fresh = netlink::Socket::open(NETLINK_ROUTE))
        comparing_ = std::move(*fresh);
    return failErrno(error, unreadable);
}

/// Bit by bit, so that what is announced meanwhile does not have to wait.
Result<void> Stations::compare() {
    if (!compared_ && suspected_) {
        auto request = dumpRequest();
        if (const int error = comparing_.begin(request); error != 0)
            return breakOff(error);
        suspected_ = false;
        compared_.emplace();
    }
    for (int step = 0; compared_ && step < stepsAtOnce; step++) {
        const auto taken = comparing_.step([&](const netlink::Message& message) {
            if (const auto station = decodeStation(message))
                compare(*station);
        });
        if (taken.error != 0)
            return breakOff(taken.error);
        if (!taken.done)
            continue;
        for (const auto& key : missingIn(*compared_))
            doubt(key);
        compared_.reset();
    }
    return {};
}

std::vector<model::StationKey> Stations::missingIn(const Keys& found) const {
    std::vector<model::StationKey> missing;
    for (const auto& [key, station] : stations_)
        if (!found.contains(key))
            missing.push_back(key);
    return missing;
}

Result<void> Stations::ask(const model::StationKey& key) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_flags = NTF_MASTER;
    netlink::Request request(RTM_GETNEIGH, 0, header);
    request.put(NDA_MASTER, key.bridge);
    request.put(NDA_LLADDR, key.mac.bytes);
    if (key.vlan != 0)
        request.put(NDA_VLAN, std::span(reinterpret_cast<const std::uint8_t*>(&key.vlan), sizeof key.vlan));
    std::optional<model::StationChange> answer;
    const auto outcome = requests_.exchange(
        request, [&](const netlink::Message& message) { answer = decodeStation(message); });
    // Without its bridge, or where the index is another device's by now, there is no station either.
    if (outcome.error == ENOENT || outcome.error == ENODEV || outcome.error == EINVAL ||
        outcome.error == EOPNOTSUPP) {
        remove(key);
        return {};
    }
    if (outcome.error != 0 || !answer || answer->key != key)
        return failErrno(outcome.error != 0 ? outcome.error : EBADMSG, "cannot ask for the station {}",
                         key.mac.text());
    trust(key);
    changed_.insert(key);
    apply(*answer);
    return {};
}

Result<void> Stations::confirm() {
    const auto count = std::min(questions_.size(), mostQuestions);
    // Each question waits for whoever changes the network just now.
    const auto end = std::chrono::steady_clock::now() + longestAsking;
    Result<void> result;
    for (std::size_t asked = 0; asked < count; asked++) {
        const auto key = questions_.front();
        if (auto done = ask(key); !done) {
            questions_.splice(questions_.end(), questions_, questions_.begin()); // the others go on
            if (result)
                result = done;
        }
        if (std::chrono::steady_clock::now() > end)
            break;
    }
    return result;
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
        suspected_ = false;
    }
    return complete() ? compare() : Result<void>{};
}

std::vector<model::StationChange> Stations::take() {
    std::vector<model::StationChange> changes;
    changes.reserve(changed_.size());
    for (const auto& key : std::exchange(changed_, {})) {
        const auto it = stations_.find(key);
        changes.push_back({key, it == stations_.end() ? std::nullopt : std::optional(it->second)});
        if (doubtful_.contains(key) && changes.back().now)
            changes.back().now->port = model::nowhere;
    }
    return changes;
}

} // namespace tna::introspect
