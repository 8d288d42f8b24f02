// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <string>

namespace tna::introspect {

/// What ethtool knows of a device.
struct DeviceInfo {
    std::string driver;
    bool vlanRxOffload = false;
    bool vlanTxOffload = false;
};

/// Asks by name, so that it can be wrong for a device renamed just then; the rename's notification
/// makes the caller ask again. Devices without ethtool give empty values.
class DeviceInfoReader {
public:
    [[nodiscard]] static Result<DeviceInfoReader> open();
    [[nodiscard]] DeviceInfo read(const std::string& name) const;

private:
    explicit DeviceInfoReader(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

} // namespace tna::introspect
