// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>

namespace tna::diff {

/// Whether a file is meant as a script: its lines are run by root's shell, and any text has lines. Either its
/// first line (besides empty ones and comments) begins with @, which makes it one whatever follows, or each
/// line begins with a command that configures networks, or with a word that such lines stand behind in a
/// shell.
[[nodiscard]] Result<void> checkScript(const std::string& script);

} // namespace tna::diff
