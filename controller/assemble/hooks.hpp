// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"

namespace tna::assemble {

/// The part of a plan that one hook's pipeline has: which ports have their program there, and by which ports
/// frames may leave from there.
[[nodiscard]] Plan partAt(Hook hook, const Plan& plan);

[[nodiscard]] bool anyProfile(const Plan& plan);

/// As people call it: "xdp-native", "tcx".
[[nodiscard]] const char* nameOf(Hook hook);

} // namespace tna::assemble
