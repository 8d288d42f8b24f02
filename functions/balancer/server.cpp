// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include "program/messages.hpp"

#include <algorithm>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <random>

namespace tna::balancer {

namespace {
/// Nobody who sends packets is to know which sessions have the same hash.
std::uint64_t someSeed() {
    std::random_device random;
    return std::uint64_t{random()} << 32U | random();
}

/// What this host has.
struct Own {
    std::set<Address> addresses;
    std::map<std::string, Mac> macs; ///< by device
};

/// Nothing: they cannot be asked for now.
std::optional<Own> ownAddresses() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0)
        return std::nullopt;
    Own own;
    for (const auto* one = all; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr)
            continue;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(one->ifa_addr);
        if (one->ifa_addr->sa_family == AF_INET)
            own.addresses.insert(Address::four(bytes + offsetof(sockaddr_in, sin_addr)));
        else if (one->ifa_addr->sa_family == AF_INET6)
            own.addresses.insert(Address::six(bytes + offsetof(sockaddr_in6, sin6_addr)));
        else if (one->ifa_addr->sa_family == AF_PACKET)
            std::copy_n(bytes + offsetof(sockaddr_ll, sll_addr), sizeof(Mac),
                        own.macs[one->ifa_name].begin());
    }
    ::freeifaddrs(all);
    return own;
}

void tell(const std::string& what) {
    program::tell("tna-balancer", what);
}
} // namespace

Server::Server(const Options& options, Configuration configuration, NetworkFunction function)
    : options_(options), balancer_(std::move(configuration), someSeed()),
      checks_(balancer_.services(), begun_), function_(std::move(function)) {
    auto own = ownAddresses().value_or(Own{});
    balancer_.setOwnAddresses(std::move(own.addresses));
    macs_ = std::move(own.macs);
}

void Server::reconfigure(Configuration configuration) {
    if (configuration.sessions != balancer_.affinity().sessions().most())
        tell(fmt::format("'sessions' stays {} until it is started again",
                         balancer_.affinity().sessions().most()));
    balancer_.reconfigure(std::move(configuration));
    checks_.follow(balancer_.services(), std::chrono::steady_clock::now());
}

std::uint32_t Server::now() const {
    const auto passed = std::chrono::steady_clock::now() - begun_;
    return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(passed).count());
}

void Server::check(std::chrono::steady_clock::time_point now) {
    for (const auto& change : checks_.step(now)) {
        balancer_.setUp(change.service, change.backend, change.up);
        const auto& service = balancer_.services()[change.service];
        tell(fmt::format("{}: {} is {}{}{}", service.settings.name,
                         text(service.backends[change.backend].settings.endpoint), change.up ? "up" : "down",
                         change.up ? "" : ": ", change.why));
    }
    if (const auto why = checks_.obstacle(); !why.empty())
        tell("cannot check all servers: " + why);
}

void Server::attend() {
    if (const auto second = now(); second != looked_) {
        looked_ = second;
        if (auto own = ownAddresses()) {
            balancer_.setOwnAddresses(std::move(own->addresses));
            macs_ = std::move(own->macs);
        }
    }
    if (const auto now = std::chrono::steady_clock::now(); now >= checks_.next())
        check(now);
}

int Server::serve(std::chrono::milliseconds longest) {
    using std::chrono::milliseconds;
    const auto until = std::chrono::ceil<milliseconds>(checks_.next() - std::chrono::steady_clock::now());
    const auto frames = function_.receive(std::clamp(until, milliseconds(0), longest));
    if (tna_function_connections(function_.get()) == 0) {
        begun_ = std::chrono::steady_clock::now(); // nothing has been seen yet of what there is to adopt
        looked_ = never;
    }
    attend();
    const auto second = now();
    for (auto& frame : frames) {
        const auto outcome = balancer_.treat({frame.data, frame.length}, second);
        statistics_.count(leave(frame, outcome) ? outcome : Outcome::notSent);
    }
    return function_.error();
}

bool Server::leave(tna_frame& frame, Outcome outcome) {
    if (outcome == Outcome::sent)
        return sendToReceiver(frame);
    if (!isDropped(outcome))
        return function_.giveBack(frame);
    function_.drop(frame);
    return true;
}

/// By a port of the function, from that port's MAC address, as a router would have sent it.
bool Server::sendToReceiver(tna_frame& frame) {
    const auto& wanted = balancer_.receiver().device;
    const auto nameOf = [&](unsigned port) {
        const auto* name = tna_function_port_name(function_.get(), port);
        return std::string(name == nullptr ? "" : name);
    };
    unsigned port = frame.port;
    if (!wanted.empty())
        for (port = 0; port < tna_function_ports(function_.get()) && nameOf(port) != wanted;)
            port++;
    const auto mac = macs_.find(nameOf(port));
    if (mac == macs_.end()) {
        function_.drop(frame);
        return false;
    }
    std::ranges::copy(mac->second, frame.data + sizeof(Mac));
    return function_.send(frame, port);
}

std::string Server::statistics() {
    tna_function_counts counts{};
    tna_function_count(function_.get(), &counts);
    return options_.json ? asJson(statistics_, balancer_, counts, now())
                         : inWords(statistics_, balancer_, counts, now());
}

} // namespace tna::balancer
