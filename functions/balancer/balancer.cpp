// SPDX-License-Identifier: Apache-2.0
#include "balancer.hpp"

#include "rewrite.hpp"

#include <algorithm>

namespace tna::balancer {

namespace {
constexpr std::uint32_t closingTime = 120; // seconds: as long as Linux waits for the other side's FIN
constexpr std::size_t macLength = 6;
} // namespace

Verdict Balancer::count(Outcome outcome, Action action) {
    counters_.outcomes[static_cast<std::size_t>(outcome)]++;
    return {action};
}

std::optional<std::uint16_t> Balancer::serviceAt(const Place& place) const {
    const auto found = places_.find(place);
    return found == places_.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t Balancer::idleTime(const Session& session) const {
    const std::uint32_t idle = services_[session.service].settings.idle;
    return session.state == Session::closing ? std::min(idle, closingTime) : idle;
}

Session* Balancer::live(std::uint16_t service, const Endpoint& client, std::uint32_t now) {
    auto* session = sessions_.find(service, client);
    if (session == nullptr)
        return nullptr;
    if (now - session->seen <= idleTime(*session))
        return session;
    sessions_.remove(*session);
    return nullptr;
}

Verdict Balancer::treat(Frame frame, unsigned port, std::uint32_t now) {
    port_ = port;
    const auto packet = parse(frame);
    switch (packet.kind) {
    case Kind::segment:
        return segment(frame, packet, now);
    case Kind::error:
        return error(frame, packet, now);
    case Kind::options:
        return count(Outcome::options, Action::toLinux);
    case Kind::fragment:
        return count(Outcome::fragment, Action::toLinux);
    case Kind::malformed:
        return count(Outcome::malformed, Action::toLinux);
    case Kind::otherKind:
        break;
    }
    return count(Outcome::otherKind, Action::toLinux);
}

Verdict Balancer::segment(Frame frame, const Packet& packet, std::uint32_t now) {
    const auto& headers = packet.outer;
    if (const auto service = serviceAt({headers.protocol, headers.to}))
        return forward(frame, packet, *service, now);
    const auto backend = backends_.find({headers.protocol, headers.from});
    if (backend == backends_.end())
        return count(Outcome::noService, Action::toLinux);
    if (own_.contains(headers.to.address))
        return count(Outcome::ownHost, Action::toLinux);
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
    if (settings.way == Way::direct)
        return false;
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
    auto& of = services_[service];
    auto* session = live(service, headers.from, now);
    const bool begins = headers.protocol == tcp && (headers.flags & (synFlag | ackFlag | rstFlag)) == synFlag;
    if (session != nullptr && session->state == Session::closing && begins) {
        sessions_.remove(*session); // its ports are used again
        session = nullptr;
    }
    const bool moves = session != nullptr && !of.backends[session->backend].up && !of.settings.keep;
    if (session != nullptr && !moves) {
        follow(*session, headers, true, now);
        return session;
    }
    const auto backend = choose(service, headers.from);
    why = backend ? Outcome::clash : Outcome::noBackend;
    if (!backend || clashes(service, *backend, headers.from, now))
        return nullptr;
    counters_.moved += moves ? 1 : 0;
    of.backends[*backend].chosen++;
    if (moves)
        session->backend = *backend;
    else
        session = &sessions_.add(service, headers.from, *backend, now);
    follow(*session, headers, moves, now);
    return session;
}

/// A session lasts with the second packet that does not begin it.
void Balancer::follow(Session& session, const Headers& headers, bool known, std::uint32_t now) {
    const bool isTcp = headers.protocol == tcp;
    auto state = session.state;
    if (isTcp && (headers.flags & (finFlag | rstFlag)) != 0)
        state = Session::closing;
    else if (known && state == Session::begun && !(isTcp && (headers.flags & synFlag) != 0))
        state = Session::lasting;
    if (state != session.state || session.seen != now)
        sessions_.touch(session, state, now);
}

Verdict Balancer::forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now) {
    if (!packet.outer.from.address.isSource())
        return count(Outcome::badSource, Action::toLinux);
    const bool direct = services_[service].settings.way == Way::direct;
    if (direct && !canBeDirect(frame, packet))
        return count(Outcome::notDirect, Action::toLinux);
    auto why = Outcome::noBackend;
    auto* session = sessionFor(packet, service, now, why);
    if (session == nullptr)
        return count(why, Action::drop);
    auto& backend = services_[service].backends[session->backend];
    if (direct)
        return sendDirectly(frame, packet, backend, Outcome::forwarded);
    setEndpoint(frame, packet, Side::to, backend.settings.endpoint);
    backend.packets++;
    backend.bytes += packet.outer.end - packet.outer.network;
    return count(Outcome::forwarded, Action::toLinux);
}

/// Which service a backend answers for. Without a session, after a restart for instance, that is clear if
/// there is only one; but not if the client has a session with another backend.
std::optional<Balancer::Owner> Balancer::ownerOf(const std::vector<Owner>& owners, const Endpoint& client,
                                                 std::uint32_t now) {
    bool none = true;
    for (const auto& owner : owners)
        if (const auto* session = live(owner.service, client, now); session != nullptr) {
            if (session->backend == owner.backend)
                return owner;
            none = false;
        }
    return none && owners.size() == 1 ? std::optional{owners.front()} : std::nullopt;
}

Verdict Balancer::reply(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                        std::uint32_t now) {
    const auto& headers = packet.outer;
    const auto owner = ownerOf(owners, headers.to, now);
    if (!owner)
        return count(Outcome::unclear, Action::drop);
    if (auto* session = live(owner->service, headers.to, now); session != nullptr)
        follow(*session, headers, true, now);
    else if ((headers.flags & (synFlag | rstFlag)) == 0)
        follow(sessions_.add(owner->service, headers.to, owner->backend, now), headers, true, now);
    auto& service = services_[owner->service];
    setEndpoint(frame, packet, Side::from, service.settings.place.endpoint);
    auto& backend = service.backends[owner->backend];
    backend.replies++;
    backend.replyBytes += headers.end - headers.network;
    return count(Outcome::replied, Action::toLinux);
}

/// Who it is sent to has sent the packet that is quoted.
Verdict Balancer::error(Frame frame, const Packet& packet, std::uint32_t now) {
    const auto& quoted = packet.quoted;
    if (packet.outer.to.address != quoted.from.address)
        return count(Outcome::noService, Action::toLinux);
    if (const auto service = serviceAt({quoted.protocol, quoted.from}))
        return errorToBackend(frame, packet, *service, now);
    const auto backend = backends_.find({quoted.protocol, quoted.to});
    if (backend == backends_.end())
        return count(Outcome::noService, Action::toLinux);
    if (own_.contains(quoted.from.address))
        return count(Outcome::ownHost, Action::toLinux);
    return errorToClient(frame, packet, backend->second, now);
}

/// It quotes what the service has sent to a client.
Verdict Balancer::errorToBackend(Frame frame, const Packet& packet, std::uint16_t service,
                                 std::uint32_t now) {
    if (!packet.outer.from.address.isSource())
        return count(Outcome::badSource, Action::toLinux);
    const bool direct = services_[service].settings.way == Way::direct;
    if (direct && !canBeDirect(frame, packet))
        return count(Outcome::notDirect, Action::toLinux);
    const auto* session = live(service, packet.quoted.to, now);
    const auto chosen =
        session != nullptr ? std::optional{session->backend} : choose(service, packet.quoted.to);
    if (!chosen)
        return count(Outcome::noBackend, Action::drop);
    auto& backend = services_[service].backends[*chosen];
    if (direct)
        return sendDirectly(frame, packet, backend, Outcome::errorForwarded);
    setQuoted(frame, packet, Side::from, backend.settings.endpoint);
    setAddress(frame, packet, Side::to, backend.settings.endpoint.address);
    return count(Outcome::errorForwarded, Action::toLinux);
}

/// It quotes what a client has sent, after its destination has been another one.
Verdict Balancer::errorToClient(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                                std::uint32_t now) {
    const auto owner = ownerOf(owners, packet.quoted.from, now);
    if (!owner)
        return count(Outcome::unclear, Action::drop);
    const auto& service = services_[owner->service].settings.place.endpoint;
    setQuoted(frame, packet, Side::to, service);
    if (packet.outer.from.address == packet.quoted.to.address)
        setAddress(frame, packet, Side::from, service.address);
    return count(Outcome::errorReplied, Action::toLinux);
}

/// Tags would have to become those of the other port, if it has any.
bool Balancer::canBeDirect(Frame frame, const Packet& packet) const {
    return !packet.tagged && port_ < ports_.size() &&
           std::equal(ports_[port_].begin(), ports_[port_].end(), frame.begin());
}

Verdict Balancer::sendDirectly(Frame frame, const Packet& packet, Backend& backend, Outcome outcome) {
    if (!backend.hop)
        return count(Outcome::noNeighbour, Action::drop);
    const auto& hop = *backend.hop;
    const auto length = packet.outer.end - packet.outer.network;
    if (length > hop.longest)
        return count(Outcome::tooLong, Action::drop);
    if (!takeHop(frame, packet))
        return count(Outcome::noHop, Action::drop);
    std::ranges::copy(hop.destination, frame.begin());
    std::ranges::copy(hop.source, frame.begin() + macLength);
    backend.packets++;
    backend.bytes += length;
    auto verdict = count(outcome, Action::send);
    verdict.port = hop.port;
    return verdict;
}

} // namespace tna::balancer
