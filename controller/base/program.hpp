// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdio>
#include <exception>

namespace tna {

/// Runs what a program is about. Exceptions are for the impossible; should one come all the same, the user
/// gets a sentence and an exit code, not a stack trace.
template <typename Main>
int runProgram(const char* name, Main main) noexcept {
    try {
        return main();
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "%s: this should not have happened: %s (please report it)\n", name,
                     exception.what());
    } catch (...) {
        std::fprintf(stderr, "%s: this should not have happened (please report it)\n", name);
    }
    return static_cast<int>(ExitCode::failure);
}

} // namespace tna
