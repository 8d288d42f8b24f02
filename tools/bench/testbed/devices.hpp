// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/topology.hpp"

#include <nlohmann/json.hpp>
#include <optional>

namespace tna::bench {

/// What of a device decides how fast it can be.
struct DeviceFacts {
    std::string name;
    std::string driver;
    unsigned mtu = 0;
    unsigned receiveQueues = 0;
    unsigned transmitQueues = 0;
    std::vector<std::string> offloads; ///< that are on
};

/// Of the devices that frames go through, as far as this machine has them.
[[nodiscard]] Result<std::vector<DeviceFacts>> describeDevices(const Topology& topology);
[[nodiscard]] nlohmann::json devicesDocument(const std::vector<DeviceFacts>& devices);

/// The address of a device, of the calling thread's namespace.
[[nodiscard]] Result<std::array<unsigned char, 6>> macOf(const std::string& device);
/// Such an address in words; nothing if it is none.
[[nodiscard]] std::optional<std::array<unsigned char, 6>> macIn(const std::string& text);
/// The name of its driver, likewise.
[[nodiscard]] Result<std::string> driverOf(const std::string& device);

} // namespace tna::bench
