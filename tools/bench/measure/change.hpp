// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/line_up.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

struct ChangeOptions {
    Setup setup; ///< of a bridge
    std::vector<std::string> contenders;
    unsigned changes = 50; ///< of each kind, and as many back
    double rate = 200'000; ///< frames per second meanwhile
    std::string tnad;      ///< the daemon's file
};

/// One kind of change under one contender: for each, seconds from when the system call had returned to when
/// the last frame was sent that was still treated the old way; and, changed back, the first that was treated
/// the new way.
struct ChangeSeries {
    std::string contender;
    std::string change;
    std::vector<double> closed;
    std::vector<double> opened;
    std::string notMeasured;
};

/// Changes that have Linux drop what it forwarded, and forward it again, while frames come at a fixed rate.
[[nodiscard]] Result<std::vector<ChangeSeries>> measureChanges(const ChangeOptions& options,
                                                               Watcher& watcher);

/// What is between a system call's return and a frame's time; 0 for a frame that was sent before.
[[nodiscard]] double secondsAfter(std::uint64_t returned, std::uint64_t frame);

[[nodiscard]] std::string renderChanges(const ChangeOptions& options, const std::vector<ChangeSeries>& all);
/// Version 1.
[[nodiscard]] nlohmann::json changeDocument(const ChangeOptions& options, const nlohmann::json& machine,
                                            const std::vector<ChangeSeries>& all);

} // namespace tna::bench
