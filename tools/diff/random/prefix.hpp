// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/chance.hpp"
#include "diff/random/topology.hpp"

namespace tna::diff {

/// Addresses that begin alike; those of IPv4 are in the first four bytes.
struct Prefix {
    bool six = false;
    Address6 base{};
    unsigned length = 0;

    [[nodiscard]] unsigned bits() const { return six ? 128 : 32; }
    /// The same address, with another length: what is behind that is 0.
    [[nodiscard]] Prefix cut(unsigned to) const;
    /// One within this one, so long.
    [[nodiscard]] Prefix within(Chance& chance, unsigned to) const;
    /// The one behind it, so many times.
    [[nodiscard]] Prefix after(unsigned times) const;
    [[nodiscard]] std::string text() const;

    [[nodiscard]] Address6 first() const { return cut(length).base; }
    [[nodiscard]] Address6 last() const;
    /// Where mistakes would be: the first and the last address, those beside them, and any in between.
    [[nodiscard]] std::vector<Address6> edges(Chance& chance) const;
};

[[nodiscard]] Address4 asAddress4(const Address6& bytes);
[[nodiscard]] Address6 asBytes(Address4 address);

} // namespace tna::diff
