// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tna {

/// Whether a shell pattern is whole: fnmatch(3) takes a bracket without an end for itself, which nobody
/// means.
[[nodiscard]] bool isPattern(const std::string& pattern);

} // namespace tna
