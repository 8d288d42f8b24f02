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

using Mac = std::array<std::uint8_t, 6>;

/// How a backend is reached without Linux.
struct NextHop {
    unsigned port = 0; ///< of the network function
    Mac destination{};
    Mac source{};
    std::uint32_t longest = 0; ///< packet that the port takes
    bool operator==(const NextHop&) const = default;
};

struct Backend {
    BackendSettings settings;
    bool up = true; ///< until a check says otherwise
    std::optional<NextHop> hop;
    std::uint64_t chosen = 0;  ///< for sessions
    std::uint64_t packets = 0; ///< to it
    std::uint64_t bytes = 0;   ///< of these, from their network headers on
    std::uint64_t replies = 0; ///< from it
    std::uint64_t replyBytes = 0;

    [[nodiscard]] bool usable() const { return up && settings.weight != 0; }
};

struct Service {
    ServiceSettings settings;
    std::vector<Backend> backends;
    Maglev table; ///< of those that are usable
};

enum class Action { toLinux, send, drop };
struct Verdict {
    Action action = Action::toLinux;
    unsigned port = 0; ///< by which it is sent
};

/// Decides about frames, and changes them. It knows of the world what it is told: no system call is here.
class Balancer {
public:
    Balancer(Configuration configuration, std::uint64_t seed);

    /// What services and backends of the same places have counted and know stays, as do their sessions.
    void reconfigure(Configuration configuration);
    void setUp(std::size_t service, std::size_t backend, bool up);
    void setHop(std::size_t service, std::size_t backend, std::optional<NextHop> hop);
    /// Addresses of this host: what backends answer to them is no client's.
    void setOwnAddresses(std::set<Address> addresses) { own_ = std::move(addresses); }
    /// MAC addresses of the network function's ports: what is sent to others is not this host's to forward.
    void setPorts(std::vector<Mac> ports) { ports_ = std::move(ports); }

    /// `port`: by which the frame has come in. `now` in seconds, never less than before.
    [[nodiscard]] Verdict treat(std::span<std::uint8_t> frame, unsigned port, std::uint32_t now);

    [[nodiscard]] const std::vector<Service>& services() const { return services_; }
    [[nodiscard]] const Sessions& sessions() const { return sessions_; }
    [[nodiscard]] const Counters& counters() const { return counters_; }
    /// Of each service's backends, sessions that are not forgotten.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> sessionsOfBackends(std::uint32_t now) const;

private:
    using Frame = std::span<std::uint8_t>;
    /// Who a packet belongs to.
    struct Owner {
        std::uint16_t service = 0;
        std::uint16_t backend = 0;
    };
    Verdict count(Outcome outcome, Action action);
    void indexPlaces();
    void rebuild(Service& service);
    [[nodiscard]] std::optional<std::uint16_t> serviceAt(const Place& place) const;
    /// Seconds without a packet after which it is forgotten.
    [[nodiscard]] std::uint32_t idleTime(const Session& session) const;
    [[nodiscard]] Session* live(std::uint16_t service, const Endpoint& client, std::uint32_t now);

    [[nodiscard]] bool canBeDirect(Frame frame, const Packet& packet) const;
    Verdict segment(Frame frame, const Packet& packet, std::uint32_t now);
    Verdict forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Verdict reply(Frame frame, const Packet& packet, const std::vector<Owner>& owners, std::uint32_t now);
    Verdict error(Frame frame, const Packet& packet, std::uint32_t now);
    Verdict errorToBackend(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Verdict errorToClient(Frame frame, const Packet& packet, const std::vector<Owner>& owners,
                          std::uint32_t now);
    Verdict sendDirectly(Frame frame, const Packet& packet, Backend& backend, Outcome outcome);

    [[nodiscard]] std::optional<std::uint16_t> choose(std::uint16_t service, const Endpoint& client) const;
    [[nodiscard]] Session* sessionFor(const Packet& packet, std::uint16_t service, std::uint32_t now,
                                      Outcome& why);
    [[nodiscard]] bool clashes(std::uint16_t service, std::uint16_t backend, const Endpoint& client,
                               std::uint32_t now);
    void follow(Session& session, const Headers& headers, bool known, std::uint32_t now);
    [[nodiscard]] std::optional<Owner> ownerOf(const std::vector<Owner>& owners, const Endpoint& client,
                                               std::uint32_t now);

    std::vector<Service> services_;
    std::unordered_map<Place, std::uint16_t, PlaceHash> places_;
    /// Of a place, all services that have it among their backends.
    std::unordered_map<Place, std::vector<Owner>, PlaceHash> backends_;
    std::set<Address> own_;
    std::vector<Mac> ports_;
    unsigned port_ = 0; ///< of the present frame
    Sessions sessions_;
    Counters counters_;
};

} // namespace tna::balancer
