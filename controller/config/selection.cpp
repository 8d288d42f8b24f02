// SPDX-License-Identifier: Apache-2.0
#include "config/selection.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace tna::config {

namespace {
bool matchesAny(const std::vector<std::string>& patterns, const std::string& name) {
    return std::ranges::any_of(
        patterns, [&](const auto& pattern) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}
} // namespace

std::optional<Exclusion> excludedBy(const Ports& ports, const std::string& name, const std::string& driver,
                                    const std::string& kind) {
    if (!matchesAny(ports.include, name))
        return Exclusion{"excluded-name", "the configuration does not include this name",
                         "see 'include' under [ports] in the configuration"};
    if (matchesAny(ports.exclude, name))
        return Exclusion{"excluded-name", "the configuration excludes this name",
                         "see 'exclude' under [ports] in the configuration"};
    if (!driver.empty() && matchesAny(ports.excludeDrivers, driver))
        return Exclusion{"excluded-driver", "the configuration excludes the driver " + driver,
                         "see 'exclude_drivers' under [ports] in the configuration"};
    if (!kind.empty() && matchesAny(ports.excludeKinds, kind) && !isForTcx(ports, name, kind))
        return Exclusion{
            "excluded-kind",
            "interfaces of kind " + kind +
                " are left to Linux, because XDP would take segmentation offload from their senders",
            "see 'exclude_kinds' under [ports] in the configuration"};
    return std::nullopt;
}

bool promisesFinishedFrames(const Ports& ports, const std::string& name) {
    return matchesAny(ports.finishedFrames, name);
}

bool isForTcx(const Ports& ports, const std::string& name, const std::string& kind) {
    return matchesAny(ports.tcx, name) || (!kind.empty() && matchesAny(ports.tcxKinds, kind));
}

bool trusts(const Ports& ports, const std::string& driver, const std::string& kind) {
    return (!driver.empty() && matchesAny(ports.trustedDrivers, driver)) ||
           (!kind.empty() && matchesAny(ports.trustedDrivers, kind));
}

} // namespace tna::config
