// SPDX-License-Identifier: Apache-2.0
#include "sessions.hpp"

#include <utility>

namespace tna::nat64 {

Sessions::Sessions(const SessionSettings& settings, Pool pool, std::uint64_t seed)
    : settings_(settings), seed_(seed), bindings_(settings.most, std::move(pool), seed),
      sessions_(settings.most), freeSessions_(allFree(settings.most)), byRemote_(settings.most),
      byAddress_(settings.filterAddress ? settings.most : 1), waiting_(patiences, settings.most) {}

std::uint64_t Sessions::hashOf(std::uint32_t binding, const Remote& remote) const {
    return Hash(seed_).add(std::uint64_t{remote.address} << 16U | remote.port).add(binding).value();
}

std::uint64_t Sessions::hashOf(std::uint32_t binding, Address4 remote) const {
    return Hash(seed_).add(remote).add(binding).value();
}

std::uint32_t Sessions::sessionOf(std::uint32_t binding, const Remote& remote) const {
    return byRemote_.find(hashOf(binding, remote), [&](auto number) {
        return sessions_[number].binding == binding && sessions_[number].remote == remote;
    });
}

bool Sessions::hasSentTo(std::uint32_t binding, Address4 remote) const {
    return byAddress_.find(hashOf(binding, remote), [&](auto number) {
        return sessions_[number].binding == binding && sessions_[number].remote.address == remote;
    }) != nobody;
}

void Sessions::begin(std::uint32_t binding, const Remote& remote, Side by, std::uint32_t now) {
    const auto number = freeSessions_.back();
    freeSessions_.pop_back();
    auto& session = sessions_[number];
    session = {.binding = binding,
               .remote = remote,
               .last = now,
               .state = by == Side::six ? TcpState::begunBy6 : TcpState::begunBy4};
    switch (bindings_.at(binding).kind) {
    case Kind::tcp:
        session.patience = Patience::tcpTransitory;
        break;
    case Kind::udp:
        session.patience = Patience::udp;
        break;
    case Kind::icmp:
        session.patience = Patience::icmp;
        break;
    }
    bindings_.at(binding).sessions++;
    byRemote_.insert(hashOf(binding, remote), number);
    if (settings_.filterAddress)
        byAddress_.insert(hashOf(binding, remote.address), number);
    waiting_.append(static_cast<std::size_t>(session.patience), number);
}

void Sessions::end(std::uint32_t number) {
    const auto& session = sessions_[number];
    waiting_.remove(static_cast<std::size_t>(session.patience), number);
    byRemote_.remove(hashOf(session.binding, session.remote), number);
    if (settings_.filterAddress)
        byAddress_.remove(hashOf(session.binding, session.remote.address), number);
    freeSessions_.push_back(number);
    if (--bindings_.at(session.binding).sessions == 0)
        bindings_.remove(session.binding);
}

void Sessions::live(std::uint32_t number, Side from, std::uint8_t flags, std::uint32_t now) {
    auto& session = sessions_[number];
    TcpStep step{session.state, session.patience, true};
    if (bindings_.at(session.binding).kind == Kind::tcp)
        step = afterPacket(session.state, from, flags);
    session.state = step.state;
    if (!step.refresh)
        return;
    waiting_.remove(static_cast<std::size_t>(session.patience), number);
    session.patience = step.patience;
    session.last = now;
    waiting_.append(static_cast<std::size_t>(session.patience), number);
}

Sessions::Found Sessions::from6(Kind kind, const Address6& host, std::uint16_t port, const Remote& remote,
                                std::uint8_t flags, std::uint32_t now) {
    auto binding = bindings_.find(kind, host, port);
    if (binding != nobody)
        if (const auto session = sessionOf(binding, remote); session != nobody) {
            live(session, Side::six, flags, now);
            return &bindings_.at(binding);
        }
    if (kind == Kind::tcp && !beginsConnection(flags))
        return std::unexpected(Reason::noSession);
    if (freeSessions_.empty())
        return std::unexpected(Reason::tableFull);
    if (binding == nobody) {
        const auto fresh = bindings_.add(kind, host, port); // there is one for each session that is free
        if (!fresh)
            return std::unexpected(fresh.error());
        binding = *fresh;
    }
    begin(binding, remote, Side::six, now);
    return &bindings_.at(binding);
}

Sessions::Found Sessions::from4(Kind kind, const Pool::Place& place, const Remote& remote, std::uint8_t flags,
                                std::uint32_t now) {
    const auto binding = bindings_.find(kind, place);
    if (binding == nobody)
        return std::unexpected(Reason::noBinding);
    if (const auto session = sessionOf(binding, remote); session != nobody) {
        live(session, Side::four, flags, now);
        return &bindings_.at(binding);
    }
    if (settings_.filterAddress && !hasSentTo(binding, remote.address))
        return std::unexpected(Reason::filtered);
    if (kind == Kind::tcp && !beginsConnection(flags))
        return std::unexpected(Reason::noSession);
    if (freeSessions_.empty())
        return std::unexpected(Reason::tableFull);
    begin(binding, remote, Side::four, now);
    return &bindings_.at(binding);
}

const Binding* Sessions::quoted6(Kind kind, const Address6& host, std::uint16_t port,
                                 const Remote& remote) const {
    const auto binding = bindings_.find(kind, host, port);
    return binding == nobody || sessionOf(binding, remote) == nobody ? nullptr : &bindings_.at(binding);
}

const Binding* Sessions::quoted4(Kind kind, const Pool::Place& place, const Remote& remote) const {
    const auto binding = bindings_.find(kind, place);
    return binding == nobody || sessionOf(binding, remote) == nobody ? nullptr : &bindings_.at(binding);
}

void Sessions::expire(std::uint32_t now) {
    for (std::size_t list = 0; list < patiences; list++)
        while (waiting_.first(list) != nobody &&
               now - sessions_[waiting_.first(list)].last >= settings_.seconds[list])
            end(waiting_.first(list));
}

} // namespace tna::nat64
