// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tna {

/// Whether a shell pattern is whole: fnmatch(3) takes a bracket without an end for itself, which nobody
/// means.
[[nodiscard]] bool isPattern(const std::string& pattern);

/// A shell pattern that is the name and no other.
[[nodiscard]] std::string patternOf(const std::string& name);

} // namespace tna
