// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace tna::diff {

/// The subcommands of tna-diff.
void addRandom(CLI::App& app, int& exitCode);
void addRun(CLI::App& app, int& exitCode);

} // namespace tna::diff
