// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <functional>

namespace tna {

/// Runs what a program is about, and sees to its end: what was printed has to have arrived. Exceptions are
/// for the impossible; should one come all the same, the user gets a sentence and an exit code, not a stack
/// trace.
int runProgram(const char* name, const std::function<int()>& main) noexcept;

} // namespace tna
