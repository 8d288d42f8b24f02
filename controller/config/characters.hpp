// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace tna::config {

/// The first character that TOML has no place for: most control characters, and outside of strings and
/// comments all that is not ASCII. The parser (toml++ 3.1) is not prepared for them: fuzzing has found that
/// it fails an assertion, or reaches what its authors thought to be unreachable.
[[nodiscard]] std::optional<std::string::const_iterator> findStray(const std::string& text);

} // namespace tna::config
