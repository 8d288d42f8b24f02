// SPDX-License-Identifier: Apache-2.0
// What changes a balancer but for frames: its configuration, and what is told about its backends.
#include "balancer.hpp"

#include <algorithm>

namespace tna::balancer {

namespace {
std::vector<Service> servicesOf(Configuration& configuration) {
    std::vector<Service> services;
    for (auto& settings : configuration.services) {
        Service service;
        for (const auto& backend : settings.backends)
            service.backends.push_back({.settings = backend});
        service.settings = std::move(settings);
        services.push_back(std::move(service));
    }
    return services;
}

/// Where a service is among others, and a backend of it.
std::optional<std::size_t> find(const std::vector<Service>& services, const Place& place) {
    const auto found = std::ranges::find(services, place, [](const Service& s) { return s.settings.place; });
    return found == services.end() ? std::nullopt : std::optional{found - services.begin()};
}
std::optional<std::size_t> find(const std::vector<Backend>& backends, const Endpoint& endpoint) {
    const auto found =
        std::ranges::find(backends, endpoint, [](const Backend& b) { return b.settings.endpoint; });
    return found == backends.end() ? std::nullopt : std::optional{found - backends.begin()};
}

std::vector<std::uint32_t> idleTimesOf(const std::vector<Service>& services) {
    std::vector<std::uint32_t> times;
    for (const auto& service : services)
        times.push_back(service.settings.idle);
    return times;
}

/// What a backend of the same place has counted, and is known to be.
void inherit(Service& service, const Service& old) {
    for (auto& backend : service.backends) {
        const auto known = find(old.backends, backend.settings.endpoint);
        if (!known)
            continue;
        auto settings = backend.settings;
        backend = old.backends[*known];
        backend.settings = settings;
        // Nobody would find out any more that it is there again.
        backend.up = backend.up || service.settings.check.kind == "none";
    }
}
} // namespace

Balancer::Balancer(Configuration configuration, std::uint64_t seed)
    : services_(servicesOf(configuration)), adopting_(configuration.adopt),
      sessions_(configuration.sessions, seed) {
    for (auto& service : services_)
        rebuild(service);
    indexPlaces();
    sessions_.setIdleTimes(idleTimesOf(services_));
}

void Balancer::reconfigure(Configuration configuration) {
    adopting_ = configuration.adopt;
    const auto before = std::exchange(services_, servicesOf(configuration));
    for (auto& service : services_) {
        if (const auto old = find(before, service.settings.place))
            inherit(service, before[*old]);
        rebuild(service);
    }
    indexPlaces();
    sessions_.renumber([&](std::uint16_t& service, std::uint16_t& backend) {
        const auto& old = before[service];
        const auto place = find(services_, old.settings.place);
        const auto known =
            place ? find(services_[*place].backends, old.backends[backend].settings.endpoint) : std::nullopt;
        if (!known)
            return false;
        service = static_cast<std::uint16_t>(*place);
        backend = static_cast<std::uint16_t>(*known);
        return true;
    });
    sessions_.setIdleTimes(idleTimesOf(services_));
}

void Balancer::setUp(std::size_t service, std::size_t backend, bool up) {
    auto& of = services_.at(service);
    if (std::exchange(of.backends.at(backend).up, up) != up)
        rebuild(of);
}

void Balancer::rebuild(Service& service) {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < service.backends.size(); i++)
        if (const auto& backend = service.backends[i]; backend.up)
            choices.push_back({static_cast<std::uint16_t>(i), hashOf(backend.settings.endpoint, 0),
                               backend.settings.weight});
    service.table = Maglev(choices, service.settings.table);
}

void Balancer::indexPlaces() {
    places_.clear();
    backends_.clear();
    ofServices_.clear();
    for (std::size_t i = 0; i < services_.size(); i++) {
        const auto& [settings, backends, table] = services_[i];
        const auto service = static_cast<std::uint16_t>(i);
        places_[settings.place] = service;
        ofServices_.insert(settings.place.endpoint.address);
        // What backends that answer by themselves send from their own addresses is no service's.
        for (std::size_t j = settings.direct ? backends.size() : 0; j < backends.size(); j++)
            backends_[{settings.place.protocol, backends[j].settings.endpoint}].push_back(
                {service, static_cast<std::uint16_t>(j)});
    }
}

std::vector<std::vector<std::uint64_t>> Balancer::sessionsOfBackends(std::uint32_t now) const {
    std::vector<std::vector<std::uint64_t>> counts;
    for (const auto& service : services_)
        counts.emplace_back(service.backends.size());
    sessions_.forEach([&](const Session& session) {
        if (!sessions_.isOver(session, now))
            counts[session.service][session.backend]++;
    });
    return counts;
}

} // namespace tna::balancer
