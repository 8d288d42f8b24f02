// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "address.hpp"

namespace tna::nat64 {

/// What has ports of its own: each of them has the whole pool.
enum class Kind : std::uint8_t { tcp, udp, icmp };
constexpr std::size_t kinds = 3;

/// IPv4 addresses and their ports that IPv6 hosts are given. Identifiers of ICMP are ports here.
class Pool {
public:
    static constexpr std::size_t mostAddresses = 256;

    /// "192.0.2.0/28", "192.0.2.1:20000-29999".
    [[nodiscard]] Result<void> add(const std::string& text);
    [[nodiscard]] bool empty() const { return addresses_.empty(); }
    [[nodiscard]] bool contains(Address4 address) const;

    struct Place {
        Address4 address = 0;
        std::uint16_t port = 0;
    };
    /// A place that is free from now on taken: by the address that all of a host's are at while it has one,
    /// by the same port if that is free, or else one of its parity, and below 1024 if it is (RFC 6146,
    /// 3.5.1.1). `hash`: of the host; `random`: where the search begins.
    [[nodiscard]] std::optional<Place> take(Kind kind, std::uint16_t wanted, std::uint64_t hash,
                                            std::uint32_t random);
    void giveBack(Kind kind, const Place& place);
    [[nodiscard]] std::size_t taken() const { return taken_; }
    [[nodiscard]] std::size_t size() const;

private:
    struct Ports {
        std::vector<std::uint64_t> taken = std::vector<std::uint64_t>(65536 / 64);
        std::uint32_t left = 0;
    };
    struct Entry {
        Address4 address = 0;
        std::uint16_t first = 1, last = 65535;
        std::array<Ports, kinds> ports;
    };
    [[nodiscard]] static std::optional<std::uint16_t> choose(const Entry& entry, const Ports& ports,
                                                             std::uint16_t wanted, std::uint32_t random);
    [[nodiscard]] Entry* find(Address4 address);

    std::vector<Entry> addresses_; ///< in order
    std::size_t taken_ = 0;
};

} // namespace tna::nat64
