// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <tna/fastpath.h>
#include <vector>

namespace tna::deploy {

struct PortCounters {
    std::uint64_t inPackets = 0;
    std::uint64_t inBytes = 0;
    std::uint64_t outPackets = 0;
    std::uint64_t outBytes = 0;
    std::array<std::uint64_t, TNA_REASON_COUNT> slow{};

    [[nodiscard]] std::uint64_t slowPackets() const;
};

/// A stable code and a sentence for a reason of the fast path.
[[nodiscard]] const char* reasonCode(unsigned reason);
[[nodiscard]] const char* reasonText(unsigned reason);

/// Entries of IPv6 for as many flows: half as many, rounded up.
constexpr unsigned routes6For(unsigned flows) {
    return (flows + 1) / 2;
}

/// A cache of the fast path, mapped for reading; its entries count.
template <typename Entry>
class CacheView {
public:
    [[nodiscard]] static Result<CacheView> open(int map, unsigned entries);
    CacheView(CacheView&& other) noexcept;
    CacheView& operator=(CacheView&&) = delete;
    CacheView(const CacheView&) = delete;
    CacheView& operator=(const CacheView&) = delete;
    ~CacheView();

    void addTo(std::vector<PortCounters>& sums) const;

private:
    explicit CacheView(std::span<const Entry> entries) : entries_(entries) {}
    std::span<const Entry> entries_;
};

/// Adds up what the CPUs and the caches have counted, by slot.
class CounterReader {
public:
    struct Maps {
        int counters;
        int flows;
        int routes;
        int routes6;
    };
    [[nodiscard]] static Result<CounterReader> open(const Maps& maps, unsigned slots, unsigned flows);

    /// By slot; only `usedSlots` are looked at.
    [[nodiscard]] std::vector<PortCounters> read(unsigned usedSlots) const;

private:
    struct Caches {
        CacheView<tna_flow> flows;
        CacheView<tna_route> routes;
        CacheView<tna_route6> routes6;
    };
    CounterReader(int countersMap, unsigned slots, Caches caches)
        : countersMap_(countersMap), slots_(slots), caches_(std::move(caches)) {}
    int countersMap_;
    unsigned slots_;
    Caches caches_;
};

} // namespace tna::deploy
