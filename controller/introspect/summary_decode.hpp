// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/attributes.hpp"
#include "model/network.hpp"

namespace tna::introspect {

struct LinkAddress {
    model::IfIndex ifindex = 0;
    model::Address address;
};
[[nodiscard]] std::optional<LinkAddress> decodeAddress(const Message& message);

[[nodiscard]] std::optional<model::Qdisc> decodeQdisc(const Message& message);

struct RouteKey {
    std::uint8_t family = 0;
    std::uint32_t table = 0;
    std::string type;
};
[[nodiscard]] std::optional<RouteKey> decodeRoute(const Message& message);

[[nodiscard]] std::optional<model::Rule> decodeRule(const Message& message);

/// A neighbour of IP, or an entry of a bridge's FDB.
struct Neighbour {
    bool bridge = false;
    model::IfIndex ifindex = 0;
    model::IfIndex master = 0;
    std::uint16_t state = 0;
};
[[nodiscard]] std::optional<Neighbour> decodeNeighbour(const Message& message);

} // namespace tna::introspect
