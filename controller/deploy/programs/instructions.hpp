// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <linux/bpf.h>
#include <optional>
#include <tna/decision.h>
#include <vector>

namespace tna::deploy {

/// A program: its main function, and behind it those that it calls.
using Instructions = std::vector<bpf_insn>;

/// Makes a tail call of each mark (TNA_GO_ON_MARK) for a hook.
void callAtMarks(Instructions& program, tna_hook hook);

/// One program of two: where the first has a mark for the hook, it goes on in the second, without a tail
/// call. What the first has in registers and on the stack is lost there, as behind a tail call. Nothing if
/// that cannot be: there is no mark, one in a function that is called, or what follows would be too far away.
[[nodiscard]] std::optional<Instructions> goOnAtMarks(const Instructions& program, tna_hook hook,
                                                      const Instructions& next);

/// Where its functions begin: the main one, then those that are called, as they lie.
[[nodiscard]] std::vector<std::uint32_t> beginsOfFunctions(const Instructions& program);

/// Whether it hands functions of its own to the kernel, to be called (loops, timers).
[[nodiscard]] bool hasCallbacks(const Instructions& program);

/// Whether it may look into a map, given by its descriptor.
[[nodiscard]] bool namesMap(const Instructions& program, int map);

} // namespace tna::deploy
