// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/tenants/offer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tna::bench {

/// Frames that were dropped up to a moment, by the clock of who counts.
struct Dropped {
    std::uint64_t frames = 0;
    double seconds = 0;
};

/// What computes the checksum of all that comes to a device, and drops it. It stands still until it is
/// resumed, so that there can be several at one device.
class Dropping {
public:
    virtual ~Dropping() = default;
    [[nodiscard]] virtual Result<Dropped> dropped() = 0;
    [[nodiscard]] virtual Result<void> resume() { return {}; }
    virtual void pause() {}
};

/// `pmd`: of dpdk-pmd, the words by which DPDK finds its device.
[[nodiscard]] Result<std::unique_ptr<Dropping>>
makeDropping(std::string_view name, unsigned times, std::shared_ptr<DropPlace> place, const std::string& pmd);
/// That by DPDK.
[[nodiscard]] Result<std::unique_ptr<Dropping>> makeDpdkDropping(std::string_view name, unsigned times,
                                                                 std::shared_ptr<DropPlace> place,
                                                                 const std::string& pmd);
/// Seconds of this machine's clock.
[[nodiscard]] double secondsNow();

} // namespace tna::bench
