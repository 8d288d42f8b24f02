// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "configuration.hpp"
#include "counters.hpp"
#include "maglev.hpp"
#include "packet.hpp"
#include "sessions.hpp"

#include <optional>
#include <set>
#include <span>
#include <unordered_map>

namespace tna::balancer {

struct Backend {
    BackendSettings settings;
    bool up = true;            ///< until checks say otherwise
    std::uint64_t chosen = 0;  ///< for sessions
    std::uint64_t packets = 0; ///< to it
    std::uint64_t bytes = 0;   ///< of these, from their network headers on
    std::uint64_t replies = 0; ///< from it
    std::uint64_t replyBytes = 0;
};

struct Service {
    ServiceSettings settings;
    std::vector<Backend> backends;
    Maglev table; ///< of those that get something new
};

/// Decides about frames, and changes them. It knows of the world what it is told: no system call is here.
class Balancer {
public:
    Balancer(Configuration configuration, std::uint64_t seed);

    /// What services and backends of the same places have counted and know stays, as do their sessions.
    void reconfigure(Configuration configuration);
    /// Sessions of one that is down go to another one with their next packet.
    void setUp(std::size_t service, std::size_t backend, bool up);
    /// Addresses of this host: what backends answer to them is no client's, and no client has them.
    void setOwnAddresses(std::set<Address> addresses) { own_ = std::move(addresses); }

    /// What has become of the frame; if it is dropped (isDropped()) or left as it is, not a byte is changed.
    /// `now`: seconds since the beginning, never less than before.
    [[nodiscard]] Outcome treat(std::span<std::uint8_t> frame, std::uint32_t now);

    /// Of the last frame that was Outcome::sent: the frame has its MAC address for a destination.
    [[nodiscard]] const BackendSettings& receiver() const { return receiver_; }

    [[nodiscard]] const std::vector<Service>& services() const { return services_; }
    [[nodiscard]] const Sessions& sessions() const { return sessions_; }
    /// Sessions, to another backend.
    [[nodiscard]] std::uint64_t moved() const { return moved_; }
    /// Of each service's backends, sessions that are not forgotten.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> sessionsOfBackends(std::uint32_t now) const;

private:
    using Frame = std::span<std::uint8_t>;
    /// Who a packet belongs to.
    struct Owner {
        std::uint16_t service = 0;
        std::uint16_t backend = 0;
    };
    void indexPlaces();
    void rebuild(Service& service);
    [[nodiscard]] std::optional<std::uint16_t> serviceAt(const Place& place) const;
    [[nodiscard]] bool isClient(const Address& address) const;
    [[nodiscard]] Session* live(std::uint16_t service, const Endpoint& client, std::uint32_t now);

    Outcome segment(Frame frame, const Packet& packet, std::uint32_t now);
    Outcome forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Outcome reply(Frame frame, const Packet& packet, const std::vector<Owner>& owners, std::uint32_t now);
    Outcome error(Frame frame, const Packet& packet, std::uint32_t now);
    Outcome errorToBackend(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Outcome errorToClient(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                          std::uint32_t now);

    [[nodiscard]] std::optional<std::uint16_t> choose(std::uint16_t service, const Endpoint& client) const;
    [[nodiscard]] Session* sessionFor(const Packet& packet, std::uint16_t service, std::uint32_t now,
                                      Outcome& why);
    [[nodiscard]] bool clashes(std::uint16_t service, std::uint16_t backend, const Endpoint& client,
                               std::uint32_t now);
    void follow(Session& session, const Headers& headers, bool known, std::uint32_t now);
    [[nodiscard]] std::optional<Owner> ownerOf(const std::vector<Owner>& owners, const Endpoint& client,
                                               std::uint32_t now);
    [[nodiscard]] std::optional<Owner> adopt(const Packet& packet, const std::vector<Owner>& owners,
                                             std::uint32_t now);

    Outcome sendTo(Frame frame, Backend& backend);

    std::vector<Service> services_;
    BackendSettings receiver_;
    unsigned adopting_; ///< seconds
    std::unordered_map<Place, std::uint16_t, PlaceHash> places_;
    /// Of a place, all services that have it among their backends.
    std::unordered_map<Place, std::vector<Owner>, PlaceHash> backends_;
    std::set<Address> own_;
    std::set<Address> ofServices_;
    Sessions sessions_;
    std::uint64_t moved_ = 0;
};

} // namespace tna::balancer
