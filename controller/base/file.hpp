// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>

namespace tna {

/// The whole content of a (small) file.
[[nodiscard]] Result<std::string> readFile(const std::string& path);

/// Writes in one write(2), as /proc and /sys want it; creates the file where the file system allows it.
[[nodiscard]] Result<void> writeFile(const std::string& path, const std::string& content);

} // namespace tna
