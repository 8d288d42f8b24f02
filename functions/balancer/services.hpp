// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "configuration.hpp"
#include "maglev.hpp"

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

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

/// A backend, by the numbers that the service has and that it has there.
struct BackendNumber {
    std::uint16_t service = 0;
    std::uint16_t backend = 0;
    bool operator==(const BackendNumber&) const = default;
};

/// The services and their backends, which of them is at a place, and who may be a client.
class Services {
public:
    explicit Services(Configuration configuration);

    /// Of each service and backend that there was, which one it is now.
    using Renumbering = std::vector<std::vector<std::optional<BackendNumber>>>;
    /// What services and backends of the same places have counted and know stays.
    [[nodiscard]] Renumbering reconfigure(Configuration configuration);
    void setUp(std::size_t service, std::size_t backend, bool up);
    /// Addresses of this host: what backends answer to them is no client's, and no client has them.
    void setOwnAddresses(std::set<Address> addresses) { own_ = std::move(addresses); }

    [[nodiscard]] const std::vector<Service>& all() const { return services_; }
    [[nodiscard]] const ServiceSettings& settings(std::uint16_t service) const {
        return services_[service].settings;
    }
    [[nodiscard]] Backend& backend(BackendNumber which) {
        return services_[which.service].backends[which.backend];
    }
    /// Seconds without a packet after which sessions are over, by service.
    [[nodiscard]] std::vector<std::uint32_t> idleTimes() const;

    [[nodiscard]] std::optional<std::uint16_t> serviceAt(const Place& place) const;
    /// Of all services that have this place among their backends; null: there is none.
    [[nodiscard]] const std::vector<BackendNumber>* backendsAt(const Place& place) const;
    [[nodiscard]] bool isOwn(const Address& address) const { return own_.contains(address); }
    [[nodiscard]] bool isClient(const Address& address) const;

    /// The backend for a client who has none yet.
    [[nodiscard]] std::optional<std::uint16_t> choose(std::uint16_t service, const Endpoint& client) const;

private:
    void indexPlaces();

    std::vector<Service> services_;
    std::unordered_map<Place, std::uint16_t, PlaceHash> places_;
    std::unordered_map<Place, std::vector<BackendNumber>, PlaceHash> backends_;
    std::set<Address> own_;
    std::set<Address> ofServices_;
};

} // namespace tna::balancer
