// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

#include <utility>

namespace tna::test {

/// Runs an XDP program by hand on a frame as if it had come in by a device of this namespace that has XDP:
/// the verdict, and what it made of the frame.
[[nodiscard]] std::pair<int, Frame> runProgram(int program, const Frame& frame, unsigned ifindex);

} // namespace tna::test
