// SPDX-License-Identifier: Apache-2.0
#include "sessions.hpp"

#include <algorithm>
#include <bit>

namespace tna::balancer {

namespace {
constexpr std::uint32_t closingTime = 120; // seconds: as long as Linux waits for the other side's FIN
/// The share of the table that those that begin displace others from is one of so many.
constexpr std::uint32_t shareOfBeginners = 8;
/// How many are looked at for each new one, so that all are in the end.
constexpr int looks = 4;
} // namespace

Sessions::Sessions(std::uint32_t most, std::uint64_t seed)
    : all_(most), lists_(lists, most), buckets_(std::bit_ceil(most), none), seed_(seed) {
    for (std::uint32_t number = 0; number < most; number++)
        lists_.add(unused, number);
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

bool Sessions::isOver(const Session& session, std::uint32_t now) const {
    if (session.service >= idle_.size())
        return false;
    const auto idle = idle_[session.service];
    return now - session.seen > (session.state == Session::closing ? std::min(idle, closingTime) : idle);
}

void Sessions::removeIfOver(std::uint32_t number, std::uint32_t now) {
    if (all_[number].state != Session::unused && isOver(all_[number], now))
        remove(all_[number]);
}

/// Makes room faster than it is taken. The oldest of a list is over before others, unless services have
/// other idle times: so all are looked at in turn as well.
void Sessions::clean(std::uint32_t now) {
    for (const auto list : {beginners, lasting, closing})
        if (!lists_.isEmpty(list))
            removeIfOver(lists_.oldest(list), now);
    for (int i = 0; i < looks; i++) {
        removeIfOver(hand_, now);
        hand_ = hand_ + 1 < all_.size() ? hand_ + 1 : 0;
    }
}

/// Of a beginner, when these have their share; else of one that has ended before one that lasts.
void Sessions::evict() {
    auto list = beginners;
    if (beginning_ < std::max(most() / shareOfBeginners, 1U))
        list = lists_.isEmpty(closing) ? lasting : closing;
    remove(all_[lists_.oldest(lists_.isEmpty(list) ? beginners : list)]);
    evicted_++;
}

Session& Sessions::add(std::uint16_t service, const Endpoint& client, std::uint16_t backend,
                       std::uint32_t now) {
    clean(now);
    if (lists_.isEmpty(unused))
        evict();
    const auto number = lists_.oldest(unused);
    lists_.remove(number);
    auto& session = all_[number];
    session.client = client;
    session.service = service;
    session.backend = backend;
    session.state = Session::begun;
    session.seen = now;
    chain(number);
    lists_.add(beginners, number);
    size_++;
    beginning_++;
    return session;
}

std::uint32_t Sessions::listOf(Session::State state) {
    if (state == Session::begun)
        return beginners;
    return state == Session::closing ? closing : lasting;
}

void Sessions::touch(Session& session, Session::State state, std::uint32_t now) {
    beginning_ += (state == Session::begun ? 1U : 0U) - (session.state == Session::begun ? 1U : 0U);
    session.state = state;
    session.seen = now;
    lists_.remove(numberOf(session));
    lists_.add(listOf(state), numberOf(session));
}

void Sessions::remove(Session& session) {
    unchain(numberOf(session));
    lists_.remove(numberOf(session));
    beginning_ -= session.state == Session::begun ? 1 : 0;
    session.state = Session::unused;
    lists_.add(unused, numberOf(session));
    size_--;
}

void Sessions::forEach(const std::function<void(const Session&)>& each) const {
    for (std::uint32_t number = 0; number < all_.size(); number++)
        if (all_[number].state != Session::unused)
            each(all_[number]);
}

void Sessions::renumber(const std::function<bool(std::uint16_t&, std::uint16_t&)>& change) {
    std::ranges::fill(buckets_, none);
    for (std::uint32_t number = 0; number < all_.size(); number++) {
        auto& session = all_[number];
        if (session.state == Session::unused)
            continue;
        const bool stays = change(session.service, session.backend);
        chain(number);
        if (!stays)
            remove(session);
    }
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
