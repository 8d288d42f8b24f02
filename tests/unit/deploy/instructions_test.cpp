// SPDX-License-Identifier: Apache-2.0
// Two programs become one: where each part comes to lie, and when it is left alone.
#include "deploy/instructions.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace tna::deploy {
namespace {

constexpr auto hook = TNA_HOOK_BRIDGE;
constexpr bpf_insn end{.code = BPF_JMP | BPF_EXIT};

bpf_insn set(std::int32_t value) {
    return {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = value};
}
const bpf_insn mark = set(TNA_GO_ON_MARK + hook);
bpf_insn call(std::int32_t distance) {
    return {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = distance};
}
bpf_insn callKernel(std::int16_t types) {
    return {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .off = types, .imm = 77};
}
bpf_insn jumpTo(std::int16_t distance) {
    return {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_3, .off = distance};
}
constexpr bpf_insn tailCall{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call};
constexpr bpf_insn callback{.code = BPF_LD | BPF_DW | BPF_IMM, .src_reg = BPF_PSEUDO_FUNC, .imm = 3};

void expectSame(const std::optional<Instructions>& found, const Instructions& expected) {
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
        const auto &one = (*found)[i], &other = expected[i];
        EXPECT_TRUE(one.code == other.code && one.dst_reg == other.dst_reg && one.src_reg == other.src_reg &&
                    one.off == other.off && one.imm == other.imm)
            << "instruction " << i << ": code " << +one.code << ", off " << one.off << ", imm " << one.imm
            << " instead of code " << +other.code << ", off " << other.off << ", imm " << other.imm;
    }
}

TEST(GoOnAtMarks, SecondProgramFollowsTheFirst) {
    expectSame(goOnAtMarks({set(1), mark, set(2), end}, hook, {set(3), end}),
               {set(1), jumpTo(2), set(2), end, set(3), end});
}

TEST(GoOnAtMarks, EachMarkLeadsThere) {
    expectSame(goOnAtMarks({mark, end, mark, end}, hook, {set(3), end}),
               {jumpTo(3), end, jumpTo(1), end, set(3), end});
}

TEST(GoOnAtMarks, WhatIsCalledLiesBehindBothAndIsStillFound) {
    // main of the first: 0-2, its function: 3-5, which calls the next: 6-7; of the second: 0-1 and 2-3
    expectSame(goOnAtMarks({call(2), mark, end, call(2), set(1), end, set(2), end}, hook,
                           {call(1), end, set(4), end}),
               {call(4), jumpTo(1), end,           // main of the first
                call(6), end,                      // of the second
                call(2), set(1), end, set(2), end, // what the first calls
                set(4), end});                     // what the second calls
}

TEST(GoOnAtMarks, MarksOfOtherHooksStay) {
    const auto other = set(TNA_GO_ON_MARK + TNA_HOOK_ROUTE);
    expectSame(goOnAtMarks({mark, other, end}, hook, {set(3), end}), {jumpTo(2), other, end, set(3), end});
}

TEST(GoOnAtMarks, NothingWhereNothingCouldFollow) {
    EXPECT_FALSE(goOnAtMarks({set(1), end}, hook, {set(3), end})) << "no mark";
    EXPECT_FALSE(goOnAtMarks({call(2), mark, end, mark, end}, hook, {set(3), end}))
        << "a function that is called cannot leave it but by returning";
    Instructions far(40000, set(1));
    far.front() = mark;
    EXPECT_FALSE(goOnAtMarks(far, hook, {set(3), end})) << "farther than a jump reaches";
}

TEST(GoOnAtMarks, NothingWithWhatIsRightInItsOwnProgramOnly) {
    EXPECT_FALSE(goOnAtMarks({mark, end}, hook, {callback, bpf_insn{}, end, set(1), end}));
    EXPECT_FALSE(goOnAtMarks({mark, callback, bpf_insn{}, end, set(1), end}, hook, {set(1), end}));
    EXPECT_FALSE(goOnAtMarks({mark, end}, hook, {callKernel(1), end})) << "types of the first's module";
    EXPECT_TRUE(goOnAtMarks({mark, callKernel(1), end}, hook, {callKernel(0), end}));
}

TEST(CallAtMarks, MakesTailCallsOfTheMarksOfOneHook) {
    const auto other = set(TNA_GO_ON_MARK + TNA_HOOK_ROUTE);
    Instructions program{mark, other, end};
    callAtMarks(program, hook);
    expectSame(program, {tailCall, other, end});
}

} // namespace
} // namespace tna::deploy
