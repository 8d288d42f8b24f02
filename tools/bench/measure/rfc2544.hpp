// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/line_up.hpp"
#include "bench/measure/trial.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

struct Rfc2544Options {
    Setup setup;
    std::vector<std::string> contenders;
    NoLossOptions search;
    unsigned rounds = 5;
    std::string tnad; ///< the daemon's file
};

/// One contender: a search in each round, or why there is none.
struct Rfc2544Series {
    std::string contender;
    std::vector<NoLossRate> rounds;
    std::string notMeasured;
    Tcp tcp = Tcp::notTried;
    unsigned cores = 0;
    std::vector<std::string> remarks; ///< about its traffic
};

/// All contenders stand ready in namespaces of their own and search in turn.
[[nodiscard]] Result<std::vector<Rfc2544Series>> measureRfc2544(const Rfc2544Options& options,
                                                                Watcher& watcher);

[[nodiscard]] std::string renderRfc2544(const std::vector<Rfc2544Series>& all);
/// Every trial; version 2.
[[nodiscard]] nlohmann::json rfc2544Document(const Rfc2544Options& options, const nlohmann::json& machine,
                                             const std::vector<Rfc2544Series>& all);

} // namespace tna::bench
