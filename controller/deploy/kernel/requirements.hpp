// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

/// What loading programs depends on, besides the kernel's own opinion.
struct Machine {
    std::string release;                          ///< as uname(2) says
    std::vector<std::string> missingCapabilities; ///< "CAP_BPF", ...
    int btfError = 0;                             ///< errno of opening the kernel's BTF; 0: it is there
    int processorsError = 0;                      ///< errno of asking how many processors there may be
};

[[nodiscard]] Machine thisMachine();

/// What is certain to fail, before anything is tried. Nothing if all seems to be there.
[[nodiscard]] std::optional<Error> missingRequirement(const Machine& machine);

/// The same for reading the kernel in place.
[[nodiscard]] std::optional<Error> missingForReadingInPlace(const Machine& machine);

/// Why the kernel refused a program ("cannot ..."): the most likely reason, and the next step.
/// `needed` is the oldest release that is known to take it: where this one is older, that is what it says
/// that it lacks (ExitCode::notSupported).
[[nodiscard]] Error explainRefusal(std::string what, int code, const Machine& machine,
                                   const char* needed = "6.6");

} // namespace tna::deploy
