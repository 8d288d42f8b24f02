// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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

/// Where the fast path counts; -1: nowhere.
struct CounterMaps {
    int ports = -1;
    int notes = -1; ///< of frames that custom modules have had
    int flows = -1;
};

/// Adds up what the CPUs and the caches have counted, by slot.
class CounterReader {
public:
    /// For so many slots and flows.
    [[nodiscard]] static Result<CounterReader> open(const CounterMaps& maps, unsigned slots,
                                                    unsigned entries);
    /// Those of routes, once they are there; they are for as many flows.
    [[nodiscard]] Result<void> addRoutes(int routes, int routes6, unsigned entries);

    /// By slot; only `usedSlots` are looked at. Never less than before: what a CPU is just moving from a
    /// cache to its ports may be seen in neither place.
    [[nodiscard]] std::vector<PortCounters> read(unsigned usedSlots);
    /// The slot is another port's from now on, which has counted nothing yet.
    void startOver(unsigned slot);

private:
    /// Takes in how far the counters are; of how many slots.
    unsigned look(unsigned usedSlots);
    /// All that has been counted in each slot.
    [[nodiscard]] std::vector<PortCounters> sum(unsigned usedSlots) const;
    CounterReader(const CounterMaps& maps, unsigned slots, CacheView<tna_flow> flows)
        : maps_(maps), slots_(slots), flows_(std::move(flows)) {}
    CounterMaps maps_;
    unsigned slots_;
    CacheView<tna_flow> flows_;
    std::optional<CacheView<tna_route>> routes_;
    std::optional<CacheView<tna_route6>> routes6_;
    std::vector<PortCounters> most_;             ///< that has been seen, by slot
    std::map<std::size_t, PortCounters> before_; ///< of that, what earlier ports of a slot have counted
};

} // namespace tna::deploy
