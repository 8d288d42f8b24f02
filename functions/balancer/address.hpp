// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace tna::balancer {

/// An address of IPv6, or of IPv4 as ::ffff:192.0.2.1: both are looked up alike.
struct Address {
    std::array<std::uint8_t, 16> bytes{};
    auto operator<=>(const Address&) const = default;

    [[nodiscard]] static Address four(const std::uint8_t* bytes);
    [[nodiscard]] static Address six(const std::uint8_t* bytes);
    [[nodiscard]] bool isFour() const;
    /// Where its own bytes are, 4 or 16 of them.
    [[nodiscard]] const std::uint8_t* data() const { return bytes.data() + (isFour() ? 12 : 0); }
    /// Whether a single host may send from it.
    [[nodiscard]] bool isSource() const;
};
[[nodiscard]] std::optional<Address> parseAddress(const std::string& text);
[[nodiscard]] std::string text(const Address& address);

/// Of Ethernet.
using Mac = std::array<std::uint8_t, 6>;
/// As in 02:00:00:00:00:01; of a single station.
[[nodiscard]] std::optional<Mac> parseMac(const std::string& text);

struct Endpoint {
    Address address;
    std::uint16_t port = 0;
    auto operator<=>(const Endpoint&) const = default;
};
/// "192.0.2.1:80", "[2001:db8::1]:80"
[[nodiscard]] std::string text(const Endpoint& endpoint);

/// The same for the same endpoint in every process, so that one that has been restarted chooses alike.
[[nodiscard]] std::uint64_t hashOf(const Endpoint& endpoint, std::uint64_t seed);

/// Of a service, or of a backend in the eyes of its clients.
struct Place {
    std::uint8_t protocol = 0;
    Endpoint endpoint;
    bool operator==(const Place&) const = default;
};
struct PlaceHash {
    std::size_t operator()(const Place& place) const { return hashOf(place.endpoint, place.protocol); }
};

} // namespace tna::balancer
