// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chains.hpp"
#include "packet.hpp"

#include <cstring>

namespace tna::nat64 {

/// Whose packets are in fragments: the first one has ports, those behind it have not. Of a bounded number,
/// where new ones take the places of others.
class Fragments {
public:
    explicit Fragments(std::uint64_t seed) : seed_(seed), entries_(places) {}

    void remember(const Parsed& first, const Address6& host, Address4 address, std::uint32_t now) {
        entries_[placeOf(first)] = {first.source6, first.destination6,
                                    first.source4, first.destination4,
                                    first.id,      first.protocol,
                                    now,           true,
                                    host,          address};
    }
    struct Entry {
        Address6 source6{}, destination6{};
        Address4 source4 = 0, destination4 = 0;
        std::uint32_t id = 0;
        std::uint8_t protocol = 0;
        std::uint32_t since = 0;
        bool used = false;
        Address6 host{};      ///< whose it is
        Address4 address = 0; ///< of it, in IPv4
    };
    [[nodiscard]] const Entry* find(const Parsed& later, std::uint32_t now) const {
        const auto& entry = entries_[placeOf(later)];
        return entry.used && now - entry.since <= seconds && entry.id == later.id &&
                       entry.protocol == later.protocol && entry.source4 == later.source4 &&
                       entry.destination4 == later.destination4 && entry.source6 == later.source6 &&
                       entry.destination6 == later.destination6
                   ? &entry
                   : nullptr;
    }

private:
    static constexpr std::size_t places = 4096;
    static constexpr std::uint32_t seconds = 10;

    [[nodiscard]] std::size_t placeOf(const Parsed& parsed) const {
        std::uint64_t words[4];
        std::memcpy(&words[0], parsed.source6.data(), sizeof(parsed.source6));
        std::memcpy(&words[2], parsed.destination6.data(), sizeof(parsed.destination6));
        Hash hash(seed_);
        for (const auto word : words)
            hash.add(word);
        hash.add(std::uint64_t{parsed.source4} << 32U | parsed.destination4);
        return hash.add(std::uint64_t{parsed.id} << 8U | parsed.protocol).value() % places;
    }

    std::uint64_t seed_;
    std::vector<Entry> entries_;
};

} // namespace tna::nat64
