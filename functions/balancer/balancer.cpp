// SPDX-License-Identifier: Apache-2.0
#include "balancer.hpp"

#include "rewrite.hpp"

#include <algorithm>

namespace tna::balancer {

Balancer::Balancer(const Configuration& configuration, std::uint64_t seed)
    : services_(configuration), affinity_(services_, configuration, seed) {}

void Balancer::reconfigure(const Configuration& configuration) {
    affinity_.reconfigure(services_.reconfigure(configuration), configuration);
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
    if (const auto service = services_.serviceAt({headers.protocol, headers.to}))
        return forward(frame, packet, *service, now);
    const auto* backends = services_.backendsAt({headers.protocol, headers.from});
    if (backends == nullptr)
        return Outcome::noService;
    if (services_.isOwn(headers.to.address))
        return Outcome::ownHost;
    return reply(frame, packet, *backends, now);
}

Outcome Balancer::forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now) {
    if (!services_.isClient(packet.outer.from.address))
        return Outcome::badSource;
    auto why = Outcome::noBackend;
    const auto chosen = affinity_.ofClient(packet.outer, service, now, why);
    if (!chosen)
        return why;
    auto& backend = services_.backend({service, *chosen});
    backend.packets++;
    backend.bytes += packet.outer.end - packet.outer.network;
    if (services_.settings(service).direct)
        return sendTo(frame, backend);
    setEndpoint(frame, packet, Side::to, backend.settings.endpoint);
    return Outcome::forwarded;
}

/// The packet stays as it is: the backend has the service's address.
Outcome Balancer::sendTo(Frame frame, const Backend& backend) {
    std::ranges::copy(*backend.settings.mac, frame.begin());
    receiver_ = backend.settings;
    return Outcome::sent;
}

Outcome Balancer::reply(Frame frame, const Packet& packet, const std::vector<BackendNumber>& backends,
                        std::uint32_t now) {
    const auto& headers = packet.outer;
    const auto which = affinity_.ofReply(headers, backends, now);
    if (!which)
        return Outcome::noSession;
    setEndpoint(frame, packet, Side::from, services_.settings(which->service).place.endpoint);
    auto& backend = services_.backend(*which);
    backend.replies++;
    backend.replyBytes += headers.end - headers.network;
    return Outcome::replied;
}

/// Who it is sent to has sent the packet that is quoted.
Outcome Balancer::error(Frame frame, const Packet& packet, std::uint32_t now) {
    const auto& quoted = packet.quoted;
    if (packet.outer.to.address != quoted.from.address)
        return Outcome::noService;
    if (const auto service = services_.serviceAt({quoted.protocol, quoted.from}))
        return errorToBackend(frame, packet, *service, now);
    const auto* backends = services_.backendsAt({quoted.protocol, quoted.to});
    if (backends == nullptr)
        return Outcome::noService;
    if (services_.isOwn(quoted.from.address))
        return Outcome::ownHost;
    return errorToClient(frame, packet, *backends, now);
}

/// It quotes what the service has sent to a client.
Outcome Balancer::errorToBackend(Frame frame, const Packet& packet, std::uint16_t service,
                                 std::uint32_t now) {
    if (!services_.isClient(packet.outer.from.address))
        return Outcome::badSource;
    const auto* session = affinity_.find(service, packet.quoted.to, now);
    if (session == nullptr)
        return Outcome::noSession;
    const auto& backend = services_.backend({service, session->backend});
    if (services_.settings(service).direct)
        return sendTo(frame, backend);
    const auto& endpoint = backend.settings.endpoint;
    setQuoted(frame, packet, Side::from, endpoint);
    setAddress(frame, packet, Side::to, endpoint.address);
    return Outcome::errorForwarded;
}

/// It quotes what a client has sent, after its destination has been another one.
Outcome Balancer::errorToClient(Frame frame, const Packet& packet, const std::vector<BackendNumber>& backends,
                                std::uint32_t now) {
    const auto which = affinity_.find(backends, packet.quoted.from, now);
    if (!which)
        return Outcome::noSession;
    const auto& service = services_.settings(which->service).place.endpoint;
    setQuoted(frame, packet, Side::to, service);
    if (packet.outer.from.address == packet.quoted.to.address)
        setAddress(frame, packet, Side::from, service.address);
    return Outcome::errorReplied;
}

} // namespace tna::balancer
