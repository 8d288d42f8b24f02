// SPDX-License-Identifier: Apache-2.0
#include "daemon/observer.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

bool Observer::readAllAgain(Way& way, Time now) {
    source_.suspectAll();
    way.suspect();
    recheck_.done(now);
    const auto changes = source_.process();
    if (!changes)
        spdlog::error("{}", changes.error().sentence());
    return changes && !changes->behind;
}

bool Observer::recheck(const assemble::Plan& plan, Way& way, Time now) {
    const auto hindered = hinderedSilently(plan);
    const auto due = recheck_.due(now, hindered);
    if (due == Recheck::Due::nothing)
        return false;
    if (due == Recheck::Due::everything) {
        source_.suspectAll();
        way.suspect();
    } else {
        for (const auto ifindex : hindered)
            source_.suspect(ifindex);
    }
    return way.readFeatures() || (due == Recheck::Due::everything && way.dataPath().anyCut());
}

} // namespace tna::daemon
