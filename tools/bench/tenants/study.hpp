// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"
#include "bench/tenants/under_test.hpp"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace tna::bench {

struct TenantsOptions {
    std::vector<std::string> subjects; ///< none: all
    std::vector<std::string> burdens{"cpu", "disk", "network"};
    std::vector<unsigned> tenants{0, 8, 32, 128};
    std::vector<unsigned> sizes{64, 1500};
    std::vector<unsigned> checksums{1, 10};
    double seconds = 1; ///< of each measurement
    unsigned rounds = 3;
    Tenancy tenancy;
    std::string journal;
    Cabling cabling;       ///< the command of `dut` runs `tenants --drop` there
    std::string forwardAs; ///< has that machine forward, as in `throughput`
    std::string tnad;
};

/// One thing to be measured beside each set of neighbours.
struct TenantsCase {
    std::string subject;
    unsigned size;
    unsigned checksums; ///< 0: it forwards
    bool operator==(const TenantsCase&) const = default;
};

struct Neighbours {
    Burden burden = Burden::none;
    unsigned count = 0;
};

/// Everything is measured beside each set of neighbours; without any, twice.
struct TenantsPlan {
    std::vector<TenantsCase> cases;
    std::vector<Neighbours> neighbours; ///< the first are none, and the second none again
    unsigned rounds = 0;
    double secondsPerCase = 0;
    double secondsPerTenant = 0;

    [[nodiscard]] double secondsOf(const Neighbours& beside) const;
    [[nodiscard]] double seconds() const;
};

/// Tenants that the machine under test cannot have, and why.
using MissingTenants = std::map<Burden, std::string>;
[[nodiscard]] MissingTenants missingTenants(const TenantsOptions& options, const UnderTest& machine);
[[nodiscard]] TenantsPlan planTenants(const TenantsOptions& options, const MissingTenants& missing);
/// "1,080 measurements of 1 s, about 30 min", and what is missing.
[[nodiscard]] std::string describe(const TenantsPlan& plan, const TenantsOptions& options,
                                   const MissingTenants& missing);

struct TenantsResult {
    TenantsPlan plan;
    MissingTenants missing;
    nlohmann::json machine;               ///< under test; null: this one
    std::vector<std::string> notMeasured; ///< by case: the reason, or empty
    /// [case][neighbours], a run each round
    std::vector<std::vector<nlohmann::json>> runs;
    bool complete = true;
};

/// `announce` is told the plan before anything is measured; it says whether to go on.
using AnnounceTenants = std::function<bool(const TenantsPlan& plan, const MissingTenants& missing)>;
[[nodiscard]] Result<TenantsResult> measureTenants(const TenantsOptions& options, Watcher& watcher,
                                                   const AnnounceTenants& announce);

/// Of one measurement, and how many tenants were there at its end.
[[nodiscard]] nlohmann::json tenantsRun(const Reading& reading, unsigned running);
[[nodiscard]] nlohmann::json tenantsDocument(const TenantsOptions& options, const nlohmann::json& machine,
                                             const TenantsResult& result);

} // namespace tna::bench
