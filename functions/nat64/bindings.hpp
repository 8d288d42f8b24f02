// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chains.hpp"
#include "pool.hpp"
#include "reasons.hpp"

#include <expected>

namespace tna::nat64 {

/// An IPv6 host's port, and what it is in IPv4 (RFC 6146: an entry of the binding information base).
struct Binding {
    Address6 host{};
    Pool::Place place;
    std::uint16_t port = 0; ///< the host's
    Kind kind = Kind::udp;
    std::uint32_t sessions = 0;
};

/// Bindings, as many as there may be from the beginning: each is found by its host and by its place, and has
/// a number.
class Bindings {
public:
    Bindings(std::size_t most, Pool pool, std::uint64_t seed);

    /// Its number, or nobody.
    [[nodiscard]] std::uint32_t find(Kind kind, const Address6& host, std::uint16_t port) const;
    [[nodiscard]] std::uint32_t find(Kind kind, const Pool::Place& place) const;
    [[nodiscard]] Binding& at(std::uint32_t number) { return all_[number]; }
    [[nodiscard]] const Binding& at(std::uint32_t number) const { return all_[number]; }

    /// Takes a place of the pool. There are to be fewer than there may be.
    [[nodiscard]] std::expected<std::uint32_t, Reason> add(Kind kind, const Address6& host,
                                                           std::uint16_t port);
    void remove(std::uint32_t number);

    [[nodiscard]] const Pool& pool() const { return pool_; }
    [[nodiscard]] std::size_t size() const { return all_.size() - free_.size(); }

private:
    [[nodiscard]] std::uint64_t hashOf(Kind kind, const Address6& host, std::uint16_t port) const;
    [[nodiscard]] std::uint64_t hashOf(Kind kind, const Pool::Place& place) const;

    Pool pool_;
    std::uint64_t seed_;
    std::uint64_t random_;
    std::vector<Binding> all_;
    std::vector<std::uint32_t> free_;
    Chains byHost_, byPlace_;
};

} // namespace tna::nat64
