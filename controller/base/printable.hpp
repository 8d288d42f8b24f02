// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tna {

/// What a terminal shows as it is. Names of interfaces, aliases and modules may have almost any byte in them,
/// and some make terminals do things: control characters (ESC begins sequences, of Unicode also U+009B),
/// characters that turn the direction of writing, and bytes that are no UTF-8 become \x1b, \u{202e}.
[[nodiscard]] std::string printable(std::string_view text);

/// The same of a text of several lines, whose ends and tabs stay.
[[nodiscard]] std::string printableLines(std::string_view text);

/// The columns that a printable text takes: its characters.
[[nodiscard]] std::size_t widthOf(std::string_view text);

} // namespace tna
