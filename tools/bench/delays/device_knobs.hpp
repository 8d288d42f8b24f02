// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"
#include "base/unique_fd.hpp"
#include "bench/delays/settings.hpp"

#include <linux/ethtool.h>
#include <optional>
#include <string>

namespace tna::bench {

/// How a device holds its interrupts back; as found when this object is gone.
class DeviceKnobs {
public:
    [[nodiscard]] static Result<DeviceKnobs> open(const NetNamespace& where, const std::string& device);
    DeviceKnobs(DeviceKnobs&& other) noexcept;
    DeviceKnobs& operator=(DeviceKnobs&&) = delete;
    ~DeviceKnobs();

    /// Why it has no coalescing to be told of; empty if it has.
    [[nodiscard]] const std::string& whyNoCoalescing() const { return whyNoCoalescing_; }
    [[nodiscard]] Result<void> apply(Settings settings);

private:
    DeviceKnobs(const NetNamespace& where, std::string device) : where_(&where), device_(std::move(device)) {}
    [[nodiscard]] Result<void> defer(const std::string& interrupts, const std::string& nanoseconds) const;
    [[nodiscard]] Result<void> coalesce(bool rx, bool tx) const;

    const NetNamespace* where_;
    std::string device_;
    std::string whyNoCoalescing_;
    std::optional<ethtool_coalesce> found_;
    std::optional<std::pair<std::string, std::string>> deferFound_;
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
