// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/instructions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>

namespace tna::deploy {

namespace {
using Index = std::ptrdiff_t;

bool isMark(const bpf_insn& instruction, tna_hook hook) {
    return instruction.code == (BPF_ALU64 | BPF_MOV | BPF_K) && instruction.dst_reg == BPF_REG_0 &&
           instruction.imm == TNA_GO_ON_MARK + static_cast<std::int32_t>(hook);
}

bool callsFunction(const bpf_insn& instruction) {
    return instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == BPF_PSEUDO_CALL;
}

bool namesCallback(const bpf_insn& instruction) {
    return instruction.code == (BPF_LD | BPF_DW | BPF_IMM) && instruction.src_reg == BPF_PSEUDO_FUNC;
}

/// By an index that is only right in the program where it stands.
bool namesTypes(const bpf_insn& instruction) {
    return instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == BPF_PSEUDO_KFUNC_CALL &&
           instruction.off != 0;
}

Index sizeOf(const Instructions& program) {
    return static_cast<Index>(program.size());
}

/// Where the main function ends.
Index endOfMain(const Instructions& program) {
    const auto begins = beginsOfFunctions(program);
    return begins.size() > 1 ? Index{begins[1]} : sizeOf(program);
}

/// The same program, parts of which lie elsewhere by now.
template <typename Moved>
Instructions withCallsMoved(Instructions program, Moved moved) {
    for (Index i = 0; i < sizeOf(program); i++)
        if (auto& instruction = program[static_cast<std::size_t>(i)]; callsFunction(instruction))
            instruction.imm = static_cast<std::int32_t>(moved(i + 1 + instruction.imm) - moved(i) - 1);
    return program;
}

/// A jump that is always taken: the verifier does not accept what nothing leads to, and then removes what
/// nothing gets to. The mark stands behind `r3 = 0`.
bpf_insn jump(Index distance) {
    return {.code = BPF_JMP | BPF_JEQ | BPF_K,
            .dst_reg = BPF_REG_3,
            .off = static_cast<std::int16_t>(distance),
            .imm = 0};
}
} // namespace

void callAtMarks(Instructions& program, tna_hook hook) {
    for (auto& instruction : program)
        if (isMark(instruction, hook))
            instruction = {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call};
}

std::optional<Instructions> goOnAtMarks(const Instructions& program, tna_hook hook,
                                        const Instructions& next) {
    const auto end = endOfMain(program);
    const auto nextEnd = endOfMain(next);
    const auto size = sizeOf(program);
    if (hasCallbacks(program) || hasCallbacks(next) || std::ranges::any_of(next, namesTypes))
        return std::nullopt;

    // The two main functions, then what the first calls, then what the second calls.
    auto joined = withCallsMoved(program, [&](Index i) { return i < end ? i : i + nextEnd; });
    const auto second = withCallsMoved(next, [&](Index i) { return i < nextEnd ? i + end : i + size; });
    bool marked = false;
    for (Index i = 0; i < size; i++) {
        auto& instruction = joined[static_cast<std::size_t>(i)];
        if (!isMark(instruction, hook))
            continue;
        const auto distance = end - i - 1;
        if (distance < 0 || distance > std::numeric_limits<std::int16_t>::max())
            return std::nullopt;
        instruction = jump(distance);
        marked = true;
    }
    if (!marked)
        return std::nullopt;
    joined.insert(joined.begin() + end, second.begin(), second.begin() + nextEnd);
    joined.insert(joined.end(), second.begin() + nextEnd, second.end());
    return joined;
}

std::vector<std::uint32_t> beginsOfFunctions(const Instructions& program) {
    std::set<std::uint32_t> begins{0};
    for (Index i = 0; i < sizeOf(program); i++)
        if (const auto& instruction = program[static_cast<std::size_t>(i)];
            callsFunction(instruction) || namesCallback(instruction))
            begins.insert(static_cast<std::uint32_t>(i + 1 + instruction.imm));
    return {begins.begin(), begins.end()};
}

bool hasCallbacks(const Instructions& program) {
    return std::ranges::any_of(program, namesCallback);
}

bool namesMap(const Instructions& program, int map) {
    return std::ranges::any_of(program, [&](const auto& instruction) {
        return instruction.code == (BPF_LD | BPF_DW | BPF_IMM) &&
               (instruction.src_reg == BPF_PSEUDO_MAP_FD || instruction.src_reg == BPF_PSEUDO_MAP_VALUE) &&
               instruction.imm == map;
    });
}

} // namespace tna::deploy
