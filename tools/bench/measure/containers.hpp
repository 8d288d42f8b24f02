// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"

#include "base/error.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tna::bench {

/// What two containers talk by: the ports of a bridge, or of a router. Or one is on a bridge of the host, and
/// the other outside.
struct ContainersOptions {
    bool routed = false;
    bool outside = false;
    bool docker = false; ///< with the rules that Docker loads for their network, which bridges have called
    unsigned rounds = 30;
    double seconds = 0.5; ///< of each measurement
    std::string tnad;
};

/// Of one contender, round by round.
struct ContainersRates {
    std::vector<double> requests;  ///< of one byte, per second
    std::vector<double> bits;      ///< per second
    std::vector<double> datagrams; ///< of 64 bytes, per second
};

struct ContainersResult {
    ContainersRates linux;
    ContainersRates tna;
    double fastPart = 0; ///< of the buffers that tna has seen
};

[[nodiscard]] Result<ContainersResult> measureContainers(const ContainersOptions& options, Watcher& watcher);

[[nodiscard]] std::string renderContainers(const ContainersOptions& options, const ContainersResult& result);
[[nodiscard]] nlohmann::json containersDocument(const ContainersOptions& options,
                                                const nlohmann::json& machine,
                                                const ContainersResult& result);

} // namespace tna::bench
