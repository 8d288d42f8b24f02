// SPDX-License-Identifier: Apache-2.0
// Two programs become one: where each part comes to lie, and when it is left alone.
#include "code.hpp"
#include "deploy/programs/function_places.hpp"
#include "deploy/programs/instructions.hpp"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace tna::deploy {
namespace {

constexpr auto hook = TNA_HOOK_BRIDGE;
using namespace code;

constexpr auto mark = set(0, TNA_GO_ON_MARK + hook);
constexpr auto other = set(0, TNA_GO_ON_MARK + TNA_HOOK_ROUTE);
constexpr auto jumpTo = [](std::int16_t distance) { return ifZero(3, distance); };

void expectSame(const std::optional<Instructions>& found, const Instructions& expected) {
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
        const auto &one = (*found)[i], &wanted = expected[i];
        EXPECT_TRUE(one.code == wanted.code && one.dst_reg == wanted.dst_reg &&
                    one.src_reg == wanted.src_reg && one.off == wanted.off && one.imm == wanted.imm)
            << "instruction " << i << ": code " << +one.code << ", off " << one.off << ", imm " << one.imm
            << " instead of code " << +wanted.code << ", off " << wanted.off << ", imm " << wanted.imm;
    }
}

TEST(GoOnAtMarks, SecondProgramFollowsTheFirst) {
    expectSame(goOnAtMarks({set(0, 1), mark, set(0, 2), end}, hook, {set(0, 3), end}),
               {set(0, 1), jumpTo(2), set(0, 2), end, set(0, 3), end});
}

TEST(GoOnAtMarks, EachMarkLeadsThere) {
    expectSame(goOnAtMarks({mark, end, mark, end}, hook, {set(0, 3), end}),
               {jumpTo(3), end, jumpTo(1), end, set(0, 3), end});
}

TEST(GoOnAtMarks, WhatIsCalledLiesBehindBothAndIsStillFound) {
    // main of the first: 0-2, its function: 3-5, which calls the next: 6-7; of the second: 0-1 and 2-3
    expectSame(goOnAtMarks({callFunction(2), mark, end, callFunction(2), set(0, 1), end, set(0, 2), end},
                           hook, {callFunction(1), end, set(0, 4), end}),
               {callFunction(4), jumpTo(1), end,                 // main of the first
                callFunction(6), end,                            // of the second
                callFunction(2), set(0, 1), end, set(0, 2), end, // what the first calls
                set(0, 4), end});                                // what the second calls
}

TEST(GoOnAtMarks, MarksOfOtherHooksStay) {
    expectSame(goOnAtMarks({mark, other, end}, hook, {set(0, 3), end}),
               {jumpTo(2), other, end, set(0, 3), end});
}

TEST(GoOnAtMarks, NothingWhereNothingCouldFollow) {
    EXPECT_FALSE(goOnAtMarks({set(0, 1), end}, hook, {set(0, 3), end})) << "no mark";
    EXPECT_FALSE(goOnAtMarks({callFunction(2), mark, end, mark, end}, hook, {set(0, 3), end}))
        << "a function that is called cannot leave it but by returning";
    Instructions far(40000, set(0, 1));
    far.front() = mark;
    EXPECT_FALSE(goOnAtMarks(far, hook, {set(0, 3), end})) << "farther than a jump reaches";
}

TEST(GoOnAtMarks, NothingWithWhatIsRightInItsOwnProgramOnly) {
    EXPECT_FALSE(goOnAtMarks({mark, end}, hook, {callback, bpf_insn{}, end, set(0, 1), end}));
    EXPECT_FALSE(goOnAtMarks({mark, callback, bpf_insn{}, end, set(0, 1), end}, hook, {set(0, 1), end}));
    EXPECT_FALSE(goOnAtMarks({mark, end}, hook, {callKernel(1), end})) << "types of the first's module";
    EXPECT_TRUE(goOnAtMarks({mark, callKernel(1), end}, hook, {callKernel(0), end}));
}

TEST(BeginsOfFunctions, AreWhereCallsAndCallbacksLead) {
    EXPECT_EQ(beginsOfFunctions({set(0, 1), end}), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(
        beginsOfFunctions({callFunction(3), callFunction(2), end, callFunction(1), end, set(0, 1), end}),
        (std::vector<std::uint32_t>{0, 4, 5}));
    EXPECT_EQ(beginsOfFunctions({callback, bpf_insn{}, end, set(0, 1), end}),
              (std::vector<std::uint32_t>{0, 4}));
}

/// As the kernel wants them.
FunctionPlaces places(const std::vector<bpf_func_info>& functions) {
    FunctionPlaces places{.recordSize = sizeof(bpf_func_info),
                          .number = static_cast<std::uint32_t>(functions.size())};
    places.records.resize(functions.size() * sizeof(bpf_func_info));
    std::memcpy(places.records.data(), functions.data(), places.records.size());
    return places;
}

TEST(FunctionPlaces, WithinAJoinedProgramAreBehindBothMainFunctions) {
    const Instructions program{callFunction(2), mark, end, callFunction(1), end, set(0, 2), end};
    const auto before = places({{.insn_off = 0, .type_id = 7}, {3, 8}, {5, 9}});
    const auto joined = goOnAtMarks(program, hook, {set(0, 3), end});
    ASSERT_TRUE(joined);
    const auto within = before.within(*joined);
    EXPECT_EQ(within.number, 3U);
    EXPECT_EQ(within.records, places({{.insn_off = 0, .type_id = 7}, {5, 8}, {7, 9}}).records);
}

TEST(FunctionPlaces, AreUnknownWithinAnythingElse) {
    const Instructions program{callFunction(2), mark, end, callFunction(1), end, set(0, 2), end};
    const auto elsewhere = places({{.insn_off = 0, .type_id = 7}, {3, 8}, {6, 9}});
    EXPECT_EQ(elsewhere.within(program).number, 0U) << "one is not where it was";
    EXPECT_EQ(places({{.insn_off = 0, .type_id = 7}}).within(program).number, 0U)
        << "no type is known for the others";
    EXPECT_EQ(elsewhere.within({set(0, 1), end}).number, 0U) << "there are fewer";
    EXPECT_EQ(FunctionPlaces{}.within(program).number, 0U);
}

TEST(CallAtMarks, MakesTailCallsOfTheMarksOfOneHook) {
    Instructions program{mark, other, end};
    callAtMarks(program, hook);
    expectSame(program, {call(BPF_FUNC_tail_call), other, end});
}

} // namespace
} // namespace tna::deploy
