// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "base/unique_fd.hpp"
#include "bench/delays/settings.hpp"
#include "bench/testbed/last_will.hpp"

#include <linux/ethtool.h>
#include <optional>
#include <string>

namespace tna::bench {

/// How a device holds its interrupts back; as found when this object is gone, or this program, whatever ends
/// it.
class DeviceKnobs {
public:
    [[nodiscard]] static Result<DeviceKnobs> open(const NetNamespace& where, const std::string& device);
    DeviceKnobs(DeviceKnobs&& other) noexcept;
    DeviceKnobs& operator=(DeviceKnobs&&) = delete;
    ~DeviceKnobs();

    /// Why it has no coalescing to be told of in one direction; empty if it has.
    [[nodiscard]] const std::string& whyNoCoalescing(Knob direction) const {
        return direction == Knob::rxCoalescing ? whyNoCoalescing_.rx : whyNoCoalescing_.tx;
    }
    [[nodiscard]] Result<void> apply(Settings settings);

private:
    struct Found {
        std::optional<ethtool_coalesce> coalesce;
        std::string interrupts; ///< napi_defer_hard_irqs
        std::string timeout;    ///< gro_flush_timeout
    };
    DeviceKnobs(const NetNamespace& where, std::string device) : where_(&where), device_(std::move(device)) {}
    [[nodiscard]] Result<void> find();
    [[nodiscard]] Result<void> leaveWill();
    [[nodiscard]] std::string tryOut(Knob direction) const;
    [[nodiscard]] Result<void> defer(const std::string& interrupts, const std::string& nanoseconds) const;
    [[nodiscard]] Result<void> coalesce(bool rx, bool tx) const;

    const NetNamespace* where_;
    std::string device_;
    struct {
        std::string rx, tx;
    } whyNoCoalescing_;
    std::optional<Found> found_;
    std::optional<LastWill> will_;
};

/// Whether processors may sleep deeply; as before when this object is gone.
class IdleKnob {
public:
    /// Why this machine has no sleep to be told of; empty if it has.
    [[nodiscard]] static std::string whyMissing();
    [[nodiscard]] Result<void> apply(bool deep);

private:
    UniqueFd held_;
};

} // namespace tna::bench
