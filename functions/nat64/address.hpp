// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tna::nat64 {

using Address4 = std::uint32_t; ///< in the host's order
using Address6 = std::array<std::uint8_t, 16>;

[[nodiscard]] Result<Address4> parseAddress4(const std::string& text);
[[nodiscard]] Result<Address6> parseAddress6(const std::string& text);
[[nodiscard]] std::string text(Address4 address);
[[nodiscard]] std::string text(const Address6& address);

struct Prefix4 {
    Address4 address = 0;
    unsigned length = 0;
    [[nodiscard]] bool contains(Address4 other) const {
        return length == 0 || (address ^ other) >> (32U - length) == 0;
    }
};
[[nodiscard]] Result<Prefix4> parsePrefix4(const std::string& text);

/// Of a host, and none that a router must not forward.
[[nodiscard]] bool isUnicast(Address4 address);
[[nodiscard]] bool isUnicast(const Address6& address);
/// Private and shared addresses, which the well-known prefix must not stand for (RFC 6052, 3.1).
[[nodiscard]] bool isPrivate(Address4 address);

/// IPv6 addresses that have an IPv4 address in them (RFC 6052).
class Prefix {
public:
    [[nodiscard]] static Result<Prefix> parse(const std::string& text);
    [[nodiscard]] Address6 embed(Address4 address) const;
    /// Nothing: it is not of this prefix.
    [[nodiscard]] std::optional<Address4> extract(const Address6& address) const;
    [[nodiscard]] bool isWellKnown() const;

private:
    Address6 address_{};
    unsigned bytes_ = 12; ///< of the prefix
};

/// IPv4 addresses that stand for IPv6 addresses one by one (RFC 7757).
class Maps {
public:
    /// "192.0.2.1=2001:db8::1"
    [[nodiscard]] Result<void> add(const std::string& text);
    [[nodiscard]] std::optional<Address4> to4(const Address6& address) const;
    [[nodiscard]] std::optional<Address6> to6(Address4 address) const;
    [[nodiscard]] bool empty() const { return by4_.empty(); }

private:
    struct Hash {
        std::size_t operator()(const Address6& address) const;
    };
    std::unordered_map<Address4, Address6> by4_;
    std::unordered_map<Address6, Address4, Hash> by6_;
};

} // namespace tna::nat64
