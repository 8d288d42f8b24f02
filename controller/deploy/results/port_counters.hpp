// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <tna/fastpath.h>

namespace tna::deploy {

/// What a port has sent and received by the fast path, and why frames were left to Linux.
struct PortCounters {
    std::uint64_t inPackets = 0;
    std::uint64_t inBytes = 0;
    std::uint64_t outPackets = 0;
    std::uint64_t outBytes = 0;
    std::array<std::uint64_t, TNA_REASON_COUNT> slow{};

    [[nodiscard]] std::uint64_t slowPackets() const;
    PortCounters& operator+=(const PortCounters& other);
};

/// A stable code and a sentence for a reason of the fast path.
[[nodiscard]] const char* reasonCode(unsigned reason);
[[nodiscard]] const char* reasonText(unsigned reason);

} // namespace tna::deploy
