// SPDX-License-Identifier: Apache-2.0
// The part of the controller that reads again what Linux sends no message of (see recheck.cpp for what that
// is).
#include "daemon/controller.hpp"

#include <spdlog/spdlog.h>

namespace tna::daemon {

/// Somebody expects that all is as it should be now: nothing that was read before is believed.
void Controller::lookAgain() {
    introspector_->suspectAll();
    refusedPorts_.forget();
    recheck_.done(std::chrono::steady_clock::now());
    if (const auto changes = introspector_->process(); !changes)
        spdlog::error("{}", changes.error().sentence());
}

/// Has read again what is due; true where something is different that is not in the model.
bool Controller::recheck() {
    const auto hindered = hinderedSilently(plan_);
    const auto due = recheck_.due(std::chrono::steady_clock::now(), hindered);
    if (due == Recheck::Due::nothing)
        return false;
    if (due == Recheck::Due::everything)
        introspector_->suspectAll();
    else
        for (const auto ifindex : hindered)
            introspector_->suspect(ifindex);
    const auto devices = capabilities_.devices;
    readFeatures();
    return devices != capabilities_.devices ||
           (due == Recheck::Due::everything && loaded_.fastPath->anyCut());
}

} // namespace tna::daemon
