// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace tna::cli {

/// What a program that makes network namespaces and loads programs into the kernel needs before it begins:
/// root, /proc and /sys, and room for files.
[[nodiscard]] Result<void> canMakeWorlds(const char* program);

} // namespace tna::cli
