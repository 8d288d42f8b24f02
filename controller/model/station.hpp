// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <chrono>
#include <cstring>
#include <functional>

namespace tna::model {

/// What a station is found by in the forwarding database of a bridge.
struct StationKey {
    IfIndex bridge = 0;
    std::uint16_t vlan = 0;
    MacAddress mac;
    bool operator==(const StationKey&) const = default;
};

/// No port: it is not sure where a station is.
inline constexpr IfIndex nowhere = 0xffffffffU;

struct Station {
    IfIndex port = 0;
    bool local = false;                 ///< the host's own, or one that Linux alone decides about
    bool inactive = false;              ///< Linux tells somebody when it sends again
    bool sticky = false;                ///< never moved by what it sends
    std::chrono::milliseconds unused{}; ///< how long ago Linux had a frame of it, when this was read
    bool operator==(const Station& other) const {
        return port == other.port && local == other.local && inactive == other.inactive &&
               sticky == other.sticky;
    }
};

/// A station that came, changed, or is gone.
struct StationChange {
    StationKey key;
    std::optional<Station> now;
};

struct StationHash {
    std::size_t operator()(const StationKey& key) const {
        std::uint64_t mac = 0;
        std::memcpy(&mac, key.mac.bytes.data(), key.mac.bytes.size());
        const auto rest = std::uint64_t{key.bridge} << 12U ^ key.vlan;
        return std::hash<std::uint64_t>{}((mac ^ rest << 40U) * 0x9e3779b97f4a7c15ULL);
    }
};

} // namespace tna::model
