// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"

namespace tna::assemble {

/// The part of a plan that one hook's pipeline has: which ports have their program there, and by which ports
/// frames may leave from there.
[[nodiscard]] Plan partAt(Hook hook, const Plan& plan);

/// Of a port that was to be at both.
void leaveAtXdpOnly(PortPlan& port, std::string why);

[[nodiscard]] bool anyProfile(const Plan& plan);

/// Where a port's frames are seen, as people call it: "xdp-native", "xdp-native+tcx", "tcx".
[[nodiscard]] const char* nameOfHooks(const PortPlan& port);

} // namespace tna::assemble
