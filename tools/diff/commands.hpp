// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <CLI/CLI.hpp>

namespace tna::diff {

/// The subcommands of tna-diff.
void addRandom(CLI::App& app, int& exitCode);
void addRun(CLI::App& app, int& exitCode);

/// Prints a sentence about a failure; the exit code of the program.
[[nodiscard]] int giveUp(const Error& error);

} // namespace tna::diff
