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

bool Stations::drain() {
    bool removed = false;
    book_.forgetRemoved(std::chrono::steady_clock::now());
    const auto drained = events_.drain([&](const netlink::Message& message) {
        const auto change = decodeStation(message);
        if (!change)
            return;
        ++stats_.events;
        removed |= !change->now;
        book_.announced(*change);
    });
    behind_ = drained.rest;
    complete_ = complete_ && !drained.lost;
    return removed;
}

Result<void> Stations::readAll() {
    ++stats_.readings;
    auto request = dumpRequest();
    StationBook::Keys found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            if (const auto station = decodeStation(message)) {
                found.insert(station->key);
                book_.read(*station);
            }
        });
    if (outcome.error != 0)
        return failErrno(outcome.error, unreadable);
    book_.keepOnly(found);
    return {};
}

/// What is left of the answers goes with the socket. Nothing but a later attempt can do better.
std::unexpected<Error> Stations::breakOff(int error) {
    book_.endComparison(false);
    suspected_ = true;
    if (auto fresh = netlink::Socket::open(NETLINK_ROUTE))
        comparing_ = std::move(*fresh);
    return failErrno(error, unreadable);
}

/// Bit by bit, so that what is announced meanwhile does not have to wait.
Result<void> Stations::compare() {
    if (!book_.comparing() && suspected_) {
        auto request = dumpRequest();
        if (const int error = comparing_.begin(request); error != 0)
            return breakOff(error);
        suspected_ = false;
        book_.beginComparison();
    }
    for (int step = 0; book_.comparing() && step < stepsAtOnce; step++) {
        const auto taken = comparing_.step([&](const netlink::Message& message) {
            if (const auto station = decodeStation(message))
                book_.compare(*station);
        });
        if (taken.error != 0)
            return breakOff(taken.error);
        if (taken.done)
            book_.endComparison(true);
    }
    return {};
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
        book_.answered(key, std::nullopt);
        return {};
    }
    if (outcome.error != 0 || !answer || answer->key != key)
        return failErrno(outcome.error != 0 ? outcome.error : EBADMSG, "cannot ask for the station {}",
                         key.mac.text());
    book_.answered(key, answer->now);
    return {};
}

Result<void> Stations::confirm() {
    const auto count = std::min(book_.doubtful(), mostQuestions);
    // Each question waits for whoever changes the network just now.
    const auto end = std::chrono::steady_clock::now() + longestAsking;
    Result<void> result;
    for (std::size_t asked = 0; asked < count; asked++) {
        const auto key = book_.question();
        if (auto done = ask(key); !done) {
            book_.postpone();
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

} // namespace tna::introspect
