// SPDX-License-Identifier: Apache-2.0
#include "services.hpp"

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

void rebuild(Service& service) {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < service.backends.size(); i++)
        if (const auto& backend = service.backends[i]; backend.up)
            choices.push_back({static_cast<std::uint16_t>(i), hashOf(backend.settings.endpoint, 0),
                               backend.settings.weight});
    service.table = Maglev(choices, service.settings.table);
}

/// Which one a backend is among other services.
std::optional<BackendNumber> numberAmong(const std::vector<Service>& services, const Place& place,
                                         const Endpoint& endpoint) {
    const auto service = find(services, place);
    const auto backend = service ? find(services[*service].backends, endpoint) : std::nullopt;
    if (!backend)
        return std::nullopt;
    return BackendNumber{static_cast<std::uint16_t>(*service), static_cast<std::uint16_t>(*backend)};
}
} // namespace

Services::Services(Configuration configuration) : services_(servicesOf(configuration)) {
    for (auto& service : services_)
        rebuild(service);
    indexPlaces();
}

Services::Renumbering Services::reconfigure(Configuration configuration) {
    const auto before = std::exchange(services_, servicesOf(configuration));
    for (auto& service : services_) {
        if (const auto old = find(before, service.settings.place))
            inherit(service, before[*old]);
        rebuild(service);
    }
    indexPlaces();
    Renumbering now;
    for (const auto& old : before) {
        auto& backends = now.emplace_back();
        for (const auto& backend : old.backends)
            backends.push_back(numberAmong(services_, old.settings.place, backend.settings.endpoint));
    }
    return now;
}

void Services::setUp(std::size_t service, std::size_t backend, bool up) {
    auto& of = services_.at(service);
    if (std::exchange(of.backends.at(backend).up, up) != up)
        rebuild(of);
}

std::vector<std::uint32_t> Services::idleTimes() const {
    std::vector<std::uint32_t> times;
    for (const auto& service : services_)
        times.push_back(service.settings.idle);
    return times;
}

void Services::indexPlaces() {
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

std::optional<std::uint16_t> Services::serviceAt(const Place& place) const {
    const auto found = places_.find(place);
    return found == places_.end() ? std::nullopt : std::optional{found->second};
}

const std::vector<BackendNumber>* Services::backendsAt(const Place& place) const {
    const auto found = backends_.find(place);
    return found == backends_.end() ? nullptr : &found->second;
}

/// Whoever claims an address of this host would have what backends answer to this host as a client's; and one
/// of a service, that two of them talk to each other for ever.
bool Services::isClient(const Address& address) const {
    return address.isSource() && !own_.contains(address) && !ofServices_.contains(address);
}

std::optional<std::uint16_t> Services::choose(std::uint16_t service, const Endpoint& client) const {
    const auto& [settings, backends, table] = services_[service];
    if (table.empty())
        return std::nullopt;
    const auto seed = hashOf(settings.place.endpoint, settings.place.protocol);
    return table.at(hashOf({client.address, settings.byAddress ? std::uint16_t{0} : client.port}, seed));
}

} // namespace tna::balancer
