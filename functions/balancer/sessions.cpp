// SPDX-License-Identifier: Apache-2.0
#include "sessions.hpp"

#include <algorithm>
#include <bit>

namespace tna::balancer {

Sessions::Sessions(std::uint32_t most, std::uint64_t seed)
    : all_(most + first), buckets_(std::bit_ceil(most), none), seed_(seed) {
    for (std::uint32_t list = 0; list < first; list++)
        all_[list].older = all_[list].newer = list;
    for (auto number = first; number < all_.size(); number++)
        link(number, freeList);
}

std::uint32_t& Sessions::bucketOf(std::uint16_t service, const Endpoint& client) {
    return buckets_[hashOf(client, seed_ + service) & (buckets_.size() - 1)];
}

Session* Sessions::find(std::uint16_t service, const Endpoint& client) {
    for (auto number = bucketOf(service, client); number != none; number = all_[number].chained)
        if (all_[number].client == client && all_[number].service == service)
            return &all_[number];
    return nullptr;
}

Session& Sessions::add(std::uint16_t service, const Endpoint& client, std::uint16_t backend,
                       std::uint32_t now) {
    // The oldest of a list is next to its end.
    if (all_[freeList].newer == freeList) {
        const auto list = all_[beginners].newer != beginners ? beginners : others;
        remove(all_[all_[list].newer]);
        evicted_++;
    }
    const auto number = all_[freeList].newer;
    unlink(number);
    auto& session = all_[number];
    session.client = client;
    session.service = service;
    session.backend = backend;
    session.state = Session::begun;
    session.seen = now;
    chain(number);
    link(number, beginners);
    size_++;
    return session;
}

void Sessions::touch(Session& session, Session::State state, std::uint32_t now) {
    session.state = state;
    session.seen = now;
    unlink(numberOf(session));
    link(numberOf(session), state == Session::begun ? beginners : others);
}

void Sessions::remove(Session& session) {
    unchain(numberOf(session));
    unlink(numberOf(session));
    session.state = Session::unused;
    link(numberOf(session), freeList);
    size_--;
}

void Sessions::forEach(const std::function<void(const Session&)>& each) const {
    for (auto number = first; number < all_.size(); number++)
        if (all_[number].state != Session::unused)
            each(all_[number]);
}

void Sessions::renumber(const std::function<bool(std::uint16_t&, std::uint16_t&)>& change) {
    std::ranges::fill(buckets_, none);
    for (auto number = first; number < all_.size(); number++) {
        auto& session = all_[number];
        if (session.state == Session::unused)
            continue;
        const bool stays = change(session.service, session.backend);
        chain(number);
        if (!stays)
            remove(session);
    }
}

/// As the newest.
void Sessions::link(std::uint32_t number, std::uint32_t list) {
    all_[number].newer = list;
    all_[number].older = all_[list].older;
    all_[all_[list].older].newer = number;
    all_[list].older = number;
}

void Sessions::unlink(std::uint32_t number) {
    all_[all_[number].older].newer = all_[number].newer;
    all_[all_[number].newer].older = all_[number].older;
}

void Sessions::chain(std::uint32_t number) {
    auto& bucket = bucketOf(all_[number].service, all_[number].client);
    all_[number].chained = bucket;
    bucket = number;
}

void Sessions::unchain(std::uint32_t number) {
    auto* link = &bucketOf(all_[number].service, all_[number].client);
    while (*link != number)
        link = &all_[*link].chained;
    *link = all_[number].chained;
}

} // namespace tna::balancer
