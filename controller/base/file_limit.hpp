// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace tna {

/// Lets this program have as many files open as it may; an error if that is fewer than `least`.
[[nodiscard]] Result<void> raiseFileLimit(const char* program, unsigned least);

} // namespace tna
