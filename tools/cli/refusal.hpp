// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tna::cli {

/// What is wrong with a command line, by name: which command or option there is not, and what may have been
/// meant.
[[nodiscard]] Error refusal(const CLI::App& app, const CLI::ParseError& error, const std::string& program);

/// Parses, and runs the commands' callbacks. Nothing if that is done; otherwise the exit code, after --help,
/// --version or a sentence.
[[nodiscard]] std::optional<int> parse(CLI::App& app, std::vector<std::string> words,
                                       const std::string& program);

} // namespace tna::cli
