// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
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

/// Adds up what the CPUs and the flow cache have counted, by slot.
class CounterReader {
public:
    [[nodiscard]] static Result<CounterReader> open(int countersMap, int flowsMap, unsigned slots,
                                                    unsigned flows);
    CounterReader(CounterReader&& other) noexcept;
    CounterReader& operator=(CounterReader&&) = delete;
    CounterReader(const CounterReader&) = delete;
    CounterReader& operator=(const CounterReader&) = delete;
    ~CounterReader();

    /// By slot; only `usedSlots` are looked at.
    [[nodiscard]] std::vector<PortCounters> read(unsigned usedSlots) const;

private:
    CounterReader(int countersMap, const tna_flow* flows, unsigned slots, unsigned flowCount)
        : countersMap_(countersMap), flows_(flows), slots_(slots), flowCount_(flowCount) {}
    int countersMap_;
    const tna_flow* flows_;
    unsigned slots_;
    unsigned flowCount_;
};

} // namespace tna::deploy
