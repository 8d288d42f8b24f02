// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/programs/instructions.hpp"

namespace tna::deploy {

/// Whether an XDP program, which the kernel's verifier has accepted, can be seen to change no packet: it
/// stores nothing where a packet could be, and calls only functions known to leave packets alone. In doubt:
/// false.
[[nodiscard]] bool onlyLooks(const Instructions& program);

} // namespace tna::deploy
