// SPDX-License-Identifier: Apache-2.0
#include "balancer.hpp"

#include "rewrite.hpp"

#include <algorithm>

namespace tna::balancer {

std::optional<std::uint16_t> Balancer::serviceAt(const Place& place) const {
    const auto found = places_.find(place);
    return found == places_.end() ? std::nullopt : std::optional{found->second};
}

/// Whoever claims an address of this host would have what backends answer to this host as a client's; and one
/// of a service, that two of them talk to each other for ever.
bool Balancer::isClient(const Address& address) const {
    return address.isSource() && !own_.contains(address) && !ofServices_.contains(address);
}

Session* Balancer::live(std::uint16_t service, const Endpoint& client, std::uint32_t now) {
    auto* session = sessions_.find(service, client);
    if (session == nullptr)
        return nullptr;
    if (!sessions_.isOver(*session, now))
        return session;
    sessions_.remove(*session);
    return nullptr;
}

Outcome Balancer::treat(Frame frame, std::uint32_t now) {
    const auto packet = parse(frame);
    switch (packet.kind) {
    case Kind::segment:
        return segment(frame, packet, now);
    case Kind::error:
        return error(frame, packet, now);
    case Kind::options:
        return Outcome::options;
    case Kind::fragment:
        return Outcome::fragment;
    case Kind::malformed:
        return Outcome::malformed;
    case Kind::otherKind:
        break;
    }
    return Outcome::otherKind;
}

Outcome Balancer::segment(Frame frame, const Packet& packet, std::uint32_t now) {
    const auto& headers = packet.outer;
    if (const auto service = serviceAt({headers.protocol, headers.to}))
        return forward(frame, packet, *service, now);
    const auto backend = backends_.find({headers.protocol, headers.from});
    if (backend == backends_.end())
        return Outcome::noService;
    if (own_.contains(headers.to.address))
        return Outcome::ownHost;
    return reply(frame, packet, backend->second, now);
}

std::optional<std::uint16_t> Balancer::choose(std::uint16_t service, const Endpoint& client) const {
    const auto& [settings, backends, table] = services_[service];
    if (table.empty())
        return std::nullopt;
    const auto seed = hashOf(settings.place.endpoint, settings.place.protocol);
    return table.at(hashOf({client.address, settings.byAddress ? std::uint16_t{0} : client.port}, seed));
}

/// Whether replies to this client would be another service's just as well.
bool Balancer::clashes(std::uint16_t service, std::uint16_t backend, const Endpoint& client,
                       std::uint32_t now) {
    const auto& settings = services_[service].settings;
    if (settings.direct)
        return false; // its replies do not come here
    const auto& owners =
        backends_.at({settings.place.protocol, services_[service].backends[backend].settings.endpoint});
    return std::ranges::any_of(owners, [&](const Owner& owner) {
        if (owner.service == service)
            return false;
        const auto* other = live(owner.service, client, now);
        return other != nullptr && other->backend == owner.backend;
    });
}

/// That of a packet from a client, which has one from now on; none: `why`.
Session* Balancer::sessionFor(const Packet& packet, std::uint16_t service, std::uint32_t now, Outcome& why) {
    const auto& headers = packet.outer;
    auto* session = live(service, headers.from, now);
    const bool begins = headers.protocol == tcp && (headers.flags & (synFlag | ackFlag | rstFlag)) == synFlag;
    if (session != nullptr && session->state == Session::closing && begins) {
        sessions_.remove(*session); // its ports are used again
        session = nullptr;
    }
    auto& backends = services_[service].backends;
    const bool moves = session != nullptr && !backends[session->backend].up;
    if (session != nullptr && !moves) {
        follow(*session, headers, true, now);
        return session;
    }
    const auto backend = choose(service, headers.from);
    why = backend ? Outcome::clash : Outcome::noBackend;
    if (!backend || clashes(service, *backend, headers.from, now))
        return nullptr;
    backends[*backend].chosen++;
    moved_ += moves ? 1 : 0;
    if (moves)
        session->backend = *backend;
    else
        session = &sessions_.add(service, headers.from, *backend, now);
    follow(*session, headers, moves, now);
    return session;
}

/// A session lasts, or ends, with the second packet that does not begin it: a single one may be anybody's.
void Balancer::follow(Session& session, const Headers& headers, bool known, std::uint32_t now) {
    const bool isTcp = headers.protocol == tcp;
    auto state = session.state;
    if (known && isTcp && (headers.flags & (finFlag | rstFlag)) != 0)
        state = Session::closing;
    else if (known && state == Session::begun && !(isTcp && (headers.flags & synFlag) != 0))
        state = Session::lasting;
    if (state != session.state || session.seen != now)
        sessions_.touch(session, state, now);
}

Outcome Balancer::forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now) {
    if (!isClient(packet.outer.from.address))
        return Outcome::badSource;
    auto why = Outcome::noBackend;
    auto* session = sessionFor(packet, service, now, why);
    if (session == nullptr)
        return why;
    auto& backend = services_[service].backends[session->backend];
    backend.packets++;
    backend.bytes += packet.outer.end - packet.outer.network;
    if (services_[service].settings.direct)
        return sendTo(frame, backend);
    setEndpoint(frame, packet, Side::to, backend.settings.endpoint);
    return Outcome::forwarded;
}

/// The packet stays as it is: the backend has the service's address.
Outcome Balancer::sendTo(Frame frame, Backend& backend) {
    std::ranges::copy(*backend.settings.mac, frame.begin());
    receiver_ = backend.settings;
    return Outcome::sent;
}

/// Whose session a backend answers.
std::optional<Balancer::Owner> Balancer::ownerOf(const std::vector<Owner>& owners, const Endpoint& client,
                                                 std::uint32_t now) {
    for (const auto& owner : owners)
        if (const auto* session = live(owner.service, client, now);
            session != nullptr && session->backend == owner.backend)
            return owner;
    return std::nullopt;
}

/// After a restart, sessions that were known before are not. For some time, what backends send belongs to
/// them, if it begins nothing, one service only has this backend, and its client has no other one there.
std::optional<Balancer::Owner> Balancer::adopt(const Packet& packet, const std::vector<Owner>& owners,
                                               std::uint32_t now) {
    const auto& headers = packet.outer;
    if (now >= adopting_ || owners.size() != 1 || (headers.flags & (synFlag | rstFlag)) != 0 ||
        !isClient(headers.to.address))
        return std::nullopt;
    const auto& owner = owners.front();
    if (live(owner.service, headers.to, now) != nullptr)
        return std::nullopt;
    follow(sessions_.add(owner.service, headers.to, owner.backend, now), headers, true, now);
    return owner;
}

Outcome Balancer::reply(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                        std::uint32_t now) {
    const auto& headers = packet.outer;
    auto owner = ownerOf(owners, headers.to, now);
    if (owner)
        follow(*live(owner->service, headers.to, now), headers, true, now);
    else
        owner = adopt(packet, owners, now);
    if (!owner)
        return Outcome::noSession;
    auto& service = services_[owner->service];
    setEndpoint(frame, packet, Side::from, service.settings.place.endpoint);
    auto& backend = service.backends[owner->backend];
    backend.replies++;
    backend.replyBytes += headers.end - headers.network;
    return Outcome::replied;
}

/// Who it is sent to has sent the packet that is quoted.
Outcome Balancer::error(Frame frame, const Packet& packet, std::uint32_t now) {
    const auto& quoted = packet.quoted;
    if (packet.outer.to.address != quoted.from.address)
        return Outcome::noService;
    if (const auto service = serviceAt({quoted.protocol, quoted.from}))
        return errorToBackend(frame, packet, *service, now);
    const auto backend = backends_.find({quoted.protocol, quoted.to});
    if (backend == backends_.end())
        return Outcome::noService;
    if (own_.contains(quoted.from.address))
        return Outcome::ownHost;
    return errorToClient(frame, packet, backend->second, now);
}

/// It quotes what the service has sent to a client.
Outcome Balancer::errorToBackend(Frame frame, const Packet& packet, std::uint16_t service,
                                 std::uint32_t now) {
    if (!isClient(packet.outer.from.address))
        return Outcome::badSource;
    const auto* session = live(service, packet.quoted.to, now);
    if (session == nullptr)
        return Outcome::noSession;
    auto& backend = services_[service].backends[session->backend];
    if (services_[service].settings.direct)
        return sendTo(frame, backend);
    const auto& endpoint = backend.settings.endpoint;
    setQuoted(frame, packet, Side::from, endpoint);
    setAddress(frame, packet, Side::to, endpoint.address);
    return Outcome::errorForwarded;
}

/// It quotes what a client has sent, after its destination has been another one.
Outcome Balancer::errorToClient(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                                std::uint32_t now) {
    const auto owner = ownerOf(owners, packet.quoted.from, now);
    if (!owner)
        return Outcome::noSession;
    const auto& service = services_[owner->service].settings.place.endpoint;
    setQuoted(frame, packet, Side::to, service);
    if (packet.outer.from.address == packet.quoted.to.address)
        setAddress(frame, packet, Side::from, service.address);
    return Outcome::errorReplied;
}

} // namespace tna::balancer
