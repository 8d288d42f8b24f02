// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "deploy/programs/instructions.hpp"

namespace tna::deploy {

/// Whether a program for XDP or tcx, which the kernel's verifier has accepted, can be seen to change no
/// packet: it stores nothing where a packet could be, and calls only functions known to leave packets alone.
/// In doubt: false.
[[nodiscard]] bool onlyLooks(const Instructions& program, assemble::Hook at = assemble::Hook::xdp);

} // namespace tna::deploy
