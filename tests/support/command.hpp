// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::test {

struct CommandResult {
    int exitCode = -1;
    std::string output; ///< standard output and standard error
};

/// Runs a program in the calling thread's network namespace.
CommandResult command(const std::vector<std::string>& arguments);

/// The same, from words separated by spaces; fails the test if the program fails.
void must(const std::string& words);

} // namespace tna::test
