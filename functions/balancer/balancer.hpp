// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "affinity.hpp"
#include "configuration.hpp"
#include "counters.hpp"
#include "packet.hpp"
#include "services.hpp"

#include <set>
#include <span>

namespace tna::balancer {

/// Decides about frames, and changes them. It knows of the world what it is told: no system call is here.
class Balancer {
public:
    Balancer(const Configuration& configuration, std::uint64_t seed);
    Balancer(const Balancer&) = delete;
    Balancer& operator=(const Balancer&) = delete;

    /// What services and backends of the same places have counted and know stays, as do their sessions.
    void reconfigure(const Configuration& configuration);
    /// Sessions of one that is down go to another one with their next packet.
    void setUp(std::size_t service, std::size_t backend, bool up) { services_.setUp(service, backend, up); }
    /// See Services.
    void setOwnAddresses(std::set<Address> addresses) { services_.setOwnAddresses(std::move(addresses)); }

    /// What has become of the frame; if it is dropped (isDropped()) or left as it is, not a byte is changed.
    /// `now`: seconds since the beginning, never less than before.
    [[nodiscard]] Outcome treat(std::span<std::uint8_t> frame, std::uint32_t now);

    /// Of the last frame that was Outcome::sent: the frame has its MAC address for a destination.
    [[nodiscard]] const BackendSettings& receiver() const { return receiver_; }

    [[nodiscard]] const std::vector<Service>& services() const { return services_.all(); }
    [[nodiscard]] const Affinity& affinity() const { return affinity_; }

private:
    using Frame = std::span<std::uint8_t>;
    Outcome segment(Frame frame, const Packet& packet, std::uint32_t now);
    Outcome forward(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Outcome reply(Frame frame, const Packet& packet, const std::vector<BackendNumber>& backends,
                  std::uint32_t now);
    Outcome error(Frame frame, const Packet& packet, std::uint32_t now);
    Outcome errorToBackend(Frame frame, const Packet& packet, std::uint16_t service, std::uint32_t now);
    Outcome errorToClient(Frame frame, const Packet& packet, const std::vector<BackendNumber>& backends,
                          std::uint32_t now);
    Outcome sendTo(Frame frame, const Backend& backend);

    Services services_;
    Affinity affinity_;
    BackendSettings receiver_;
};

} // namespace tna::balancer
