// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace tna::config {

// The parser (toml++ 3) is not prepared for some characters where TOML has no place for them: fuzzing has
// found that it fails an assertion, or reaches what its authors thought to be unreachable.

/// The first control character that TOML has no place for, in strings neither.
[[nodiscard]] std::optional<std::string::const_iterator> findControl(const std::string& text);

/// The text with a letter in the place of each byte that is not ASCII.
[[nodiscard]] std::string asciiOf(std::string text);

/// The first byte outside of strings and comments that is not ASCII, of a text whose asciiOf() is TOML: of
/// others nobody can say where strings begin.
[[nodiscard]] std::optional<std::string::const_iterator> findStray(const std::string& text);

} // namespace tna::config
