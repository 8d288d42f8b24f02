// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/pipeline/flow_cache.hpp"
#include "deploy/results/port_counters.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tna::deploy {

/// A cache of the fast path, mapped for reading; its entries count.
class CacheView {
public:
    [[nodiscard]] static Result<CacheView> open(const CountingMap& cache);
    CacheView(CacheView&& other) noexcept;
    CacheView& operator=(CacheView&&) = delete;
    CacheView(const CacheView&) = delete;
    CacheView& operator=(const CacheView&) = delete;
    ~CacheView();

    void addTo(std::vector<PortCounters>& sums) const { add_(memory_, sums); }

private:
    using Memory = std::span<const std::byte>;
    using Add = void (*)(Memory memory, std::vector<PortCounters>& sums);
    CacheView(Memory memory, Add add) : memory_(memory), add_(add) {}
    template <typename Entry>
    static void addEntries(Memory memory, std::vector<PortCounters>& sums);
    static Add adderFor(assemble::Counting counting);

    Memory memory_;
    Add add_; ///< as the entries' type has it
};

/// Where the fast path counts; -1: nowhere.
struct CounterMaps {
    int ports = -1;
    int notes = -1; ///< of frames that custom modules have had
};

/// Adds up what the CPUs and the caches have counted, by slot.
class CounterReader {
public:
    CounterReader(const CounterMaps& maps, unsigned slots) : maps_(maps), slots_(slots) {}

    /// Reads these as well, as far as it does not yet: there are ever more of them.
    [[nodiscard]] Result<void> follow(const std::vector<CountingMap>& caches);

    /// By slot; only `usedSlots` are looked at. Never less than before: what a CPU is just moving from a
    /// cache to its ports may be seen in neither place.
    [[nodiscard]] std::vector<PortCounters> read(unsigned usedSlots);
    /// Of a slot, by whichever port it is: more or less what was left to Linux.
    [[nodiscard]] std::uint64_t leftToLinux(unsigned slot) const;
    /// The slot is another port's from now on, which has counted nothing yet.
    void startOver(unsigned slot);

private:
    /// Takes in how far the counters are; of how many slots.
    unsigned look(unsigned usedSlots);
    /// All that has been counted in each slot.
    [[nodiscard]] std::vector<PortCounters> sum(unsigned usedSlots) const;
    CounterMaps maps_;
    unsigned slots_;
    std::vector<CacheView> caches_;              ///< in the order in which they were made
    std::vector<PortCounters> most_;             ///< that has been seen, by slot
    std::map<std::size_t, PortCounters> before_; ///< of that, what earlier ports of a slot have counted
};

} // namespace tna::deploy
