// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace tna {

/// The whole content of a (small) file.
[[nodiscard]] Result<std::string> readFile(const std::string& path);

/// The whole content of a file that a user names: a file, or a pipe (a FIFO, the shell's `<(...)`). Nothing
/// that has no end: no device, no more than `most` bytes, no pipe that is silent for as long as `patience`.
[[nodiscard]] Result<std::string>
readNamedFile(const std::string& path, std::size_t most,
              std::chrono::milliseconds patience = std::chrono::seconds(10));

/// Writes in one write(2), as /proc and /sys want it; creates the file where the file system allows it.
[[nodiscard]] Result<void> writeFile(const std::string& path, const std::string& content);

} // namespace tna
