// SPDX-License-Identifier: Apache-2.0
#include "affinity.hpp"

#include <algorithm>

namespace tna::balancer {

Affinity::Affinity(Services& services, const Configuration& configuration, std::uint64_t seed)
    : services_(services), adopting_(configuration.adopt), sessions_(configuration.sessions, seed) {
    sessions_.setIdleTimes(services_.idleTimes());
}

void Affinity::reconfigure(const Services::Renumbering& renumbering, const Configuration& configuration) {
    adopting_ = configuration.adopt;
    sessions_.renumber([&](std::uint16_t& service, std::uint16_t& backend) {
        const auto now = renumbering[service][backend];
        if (!now)
            return false;
        service = now->service;
        backend = now->backend;
        return true;
    });
    sessions_.setIdleTimes(services_.idleTimes());
}

Session* Affinity::live(std::uint16_t service, const Endpoint& client, std::uint32_t now) {
    auto* session = sessions_.find(service, client);
    if (session == nullptr)
        return nullptr;
    if (!sessions_.isOver(*session, now))
        return session;
    sessions_.remove(*session);
    return nullptr;
}

/// Whether replies to this client would be another service's just as well.
bool Affinity::clashes(BackendNumber which, const Endpoint& client, std::uint32_t now) {
    const auto& settings = services_.settings(which.service);
    if (settings.direct)
        return false; // its replies do not come here
    const auto* same =
        services_.backendsAt({settings.place.protocol, services_.backend(which).settings.endpoint});
    return std::ranges::any_of(*same, [&](const BackendNumber& other) {
        if (other.service == which.service)
            return false;
        const auto* session = live(other.service, client, now);
        return session != nullptr && session->backend == other.backend;
    });
}

std::optional<std::uint16_t> Affinity::ofClient(const Headers& headers, std::uint16_t service,
                                                std::uint32_t now, Outcome& why) {
    auto* session = live(service, headers.from, now);
    const bool begins = headers.protocol == tcp && (headers.flags & (synFlag | ackFlag | rstFlag)) == synFlag;
    if (session != nullptr && session->state == Session::closing && begins) {
        sessions_.remove(*session); // its ports are used again
        session = nullptr;
    }
    const bool moves = session != nullptr && !services_.backend({service, session->backend}).up;
    if (session != nullptr && !moves) {
        follow(*session, headers, true, now);
        return session->backend;
    }
    const auto backend = services_.choose(service, headers.from);
    why = backend ? Outcome::clash : Outcome::noBackend;
    if (!backend || clashes({service, *backend}, headers.from, now))
        return std::nullopt;
    services_.backend({service, *backend}).chosen++;
    moved_ += moves ? 1 : 0;
    if (moves)
        session->backend = *backend;
    else
        session = &sessions_.add(service, headers.from, *backend, now);
    follow(*session, headers, moves, now);
    return backend;
}

/// A session lasts, or ends, with the second packet that does not begin it: a single one may be anybody's.
void Affinity::follow(Session& session, const Headers& headers, bool known, std::uint32_t now) {
    const bool isTcp = headers.protocol == tcp;
    auto state = session.state;
    if (known && isTcp && (headers.flags & (finFlag | rstFlag)) != 0)
        state = Session::closing;
    else if (known && state == Session::begun && !(isTcp && (headers.flags & synFlag) != 0))
        state = Session::lasting;
    if (state != session.state || session.seen != now)
        sessions_.touch(session, state, now);
}

std::optional<BackendNumber> Affinity::find(const std::vector<BackendNumber>& backends,
                                            const Endpoint& client, std::uint32_t now) {
    for (const auto& which : backends)
        if (const auto* session = live(which.service, client, now);
            session != nullptr && session->backend == which.backend)
            return which;
    return std::nullopt;
}

std::optional<BackendNumber>
Affinity::ofReply(const Headers& headers, const std::vector<BackendNumber>& backends, std::uint32_t now) {
    const auto which = find(backends, headers.to, now);
    if (!which)
        return adopt(headers, backends, now);
    follow(*live(which->service, headers.to, now), headers, true, now);
    return which;
}

/// After a restart, sessions that were known before are not. For some time, what backends send belongs to
/// them, if it begins nothing, one service only has this backend, and its client has no other one there.
std::optional<BackendNumber> Affinity::adopt(const Headers& headers,
                                             const std::vector<BackendNumber>& backends, std::uint32_t now) {
    if (now >= adopting_ || backends.size() != 1 || (headers.flags & (synFlag | rstFlag)) != 0 ||
        !services_.isClient(headers.to.address))
        return std::nullopt;
    const auto& which = backends.front();
    if (live(which.service, headers.to, now) != nullptr)
        return std::nullopt;
    follow(sessions_.add(which.service, headers.to, which.backend, now), headers, true, now);
    return which;
}

std::vector<std::vector<std::uint64_t>> Affinity::countByBackend(std::uint32_t now) const {
    std::vector<std::vector<std::uint64_t>> counts;
    for (const auto& service : services_.all())
        counts.emplace_back(service.backends.size());
    sessions_.forEach([&](const Session& session) {
        if (!sessions_.isOver(session, now))
            counts[session.service][session.backend]++;
    });
    return counts;
}

} // namespace tna::balancer
