// SPDX-License-Identifier: Apache-2.0
// Which programs can be seen to leave packets alone, and what is enough to doubt it.
#include "code.hpp"
#include "deploy/custom/only_looks.hpp"

#include <gtest/gtest.h>

namespace tna::deploy {
namespace {

using namespace code;

const bpf_insn data = load(BPF_W, 2, 1, 0);    ///< r2: where the packet begins
const bpf_insn dataEnd = load(BPF_W, 3, 1, 4); ///< r3: where it ends

/// `program`, with a store of a number through a register at the end.
Instructions storing(Instructions program, std::uint8_t to) {
    program.push_back(storeNumber(to));
    program.push_back(set(0, 2));
    program.push_back(end);
    return program;
}

TEST(OnlyLooks, WhatReadsThePacketAndWritesElsewhere) {
    EXPECT_TRUE(onlyLooks({set(0, 2), end}));
    EXPECT_TRUE(onlyLooks({data, load(BPF_B, 4, 2, 12), store(BPF_DW, 10, -8, 4), set(0, 2), end}));
    EXPECT_TRUE(onlyLooks({load(BPF_W, 2, 1, 12), store(BPF_W, 10, -4, 2), copy(2, 10), add(2, -4),
                           call(BPF_FUNC_map_lookup_elem), ifZero(0, 1), storeNumber(0), set(0, 2), end}))
        << "a map's value";
    EXPECT_TRUE(onlyLooks(storing({data, copy(2, 10)}, 2))) << "no longer the packet's address";
    EXPECT_TRUE(onlyLooks(storing({data, copy(6, 2), set(6, 0)}, 6)));
}

TEST(OnlyLooks, NotWhatStoresInThePacket) {
    EXPECT_FALSE(onlyLooks(storing({data}, 2)));
    EXPECT_FALSE(onlyLooks(storing({dataEnd, add(3, -1)}, 3)));
    EXPECT_FALSE(onlyLooks(storing({load(BPF_W, 2, 1, 8)}, 2))) << "in front of it";
    EXPECT_FALSE(onlyLooks(storing({data, copy(6, 2), add(6, 14)}, 6)));
    EXPECT_FALSE(onlyLooks(storing({data, set(4, 5), addFrom(4, 2)}, 4)));
    EXPECT_FALSE(onlyLooks({data, store(BPF_B, 2, 5, 3), set(0, 2), end}));
    EXPECT_FALSE(onlyLooks({data, set(3, 1), atomic(2, 3, BPF_ADD), set(0, 2), end}));
    EXPECT_FALSE(onlyLooks(storing({}, 1))) << "what is in the context is said elsewhere";
}

/// The packet's addresses are elsewhere in the context there, and numbers are where they are at XDP.
TEST(OnlyLooks, AtTcx) {
    const auto from = [](std::size_t offset) { return load(BPF_W, 2, 1, static_cast<std::int16_t>(offset)); };
    for (const auto address :
         {offsetof(__sk_buff, data), offsetof(__sk_buff, data_end), offsetof(__sk_buff, data_meta)}) {
        EXPECT_FALSE(onlyLooks(storing({from(address)}, 2), assemble::Hook::tcx)) << address;
        EXPECT_TRUE(onlyLooks(storing({from(address), set(2, 0)}, 2), assemble::Hook::tcx)) << address;
    }
    for (const auto number :
         {offsetof(__sk_buff, len), offsetof(__sk_buff, mark), offsetof(__sk_buff, vlan_tci)})
        EXPECT_TRUE(onlyLooks(storing({from(number)}, 2), assemble::Hook::tcx)) << number;
    EXPECT_FALSE(onlyLooks(storing({}, 1), assemble::Hook::tcx)) << "the mark, for instance";
    for (const auto helper : {BPF_FUNC_skb_store_bytes, BPF_FUNC_skb_change_tail, BPF_FUNC_skb_vlan_push})
        EXPECT_FALSE(onlyLooks({call(helper), set(0, 0), end}, assemble::Hook::tcx)) << helper;
    EXPECT_TRUE(onlyLooks({call(BPF_FUNC_skb_pull_data), set(0, 0), end}, assemble::Hook::tcx));
}

TEST(OnlyLooks, NotWhateverWayThePacketsAddressHasGone) {
    EXPECT_FALSE(onlyLooks(storing({copy(6, 1), load(BPF_W, 7, 6, 0)}, 7))) << "the context, copied";
    EXPECT_FALSE(onlyLooks(storing({add(1, -64), load(BPF_W, 2, 1, 64)}, 2)))
        << "the context, calculated with";
    EXPECT_FALSE(onlyLooks(storing({data, store(BPF_DW, 10, -8, 2), load(BPF_DW, 7, 10, -8)}, 7)))
        << "the stack";
    EXPECT_FALSE(
        onlyLooks(storing({store(BPF_DW, 10, -8, 1), load(BPF_DW, 7, 10, -8), load(BPF_W, 2, 7, 4)}, 2)));
    EXPECT_FALSE(onlyLooks(storing({data, store(BPF_DW, 10, -8, 2), set(4, 0), atomic(10, 4, BPF_XCHG)}, 4)));
    EXPECT_FALSE(onlyLooks(storing({set(2, 0), ifZero(3, 1), data}, 2))) << "one way of two";
}

TEST(OnlyLooks, NotWhatAFunctionThatItCallsStoresThere) {
    // the function begins at 4
    EXPECT_FALSE(onlyLooks({data, callFunction(2), set(0, 2), end, storeNumber(2), set(0, 0), end}));
    EXPECT_TRUE(onlyLooks({data, callFunction(2), set(0, 2), end, copy(2, 10), storeNumber(2), end}));
    EXPECT_FALSE(onlyLooks({callFunction(3), storeNumber(0), set(0, 2), end, load(BPF_W, 0, 1, 0), end}))
        << "returned";
    EXPECT_FALSE(
        onlyLooks({callFunction(4), load(BPF_W, 2, 0, 0), storeNumber(2), set(0, 2), end, copy(0, 1), end}))
        << "the context, returned";
}

TEST(OnlyLooks, NotWhatCallsWhatMayChangePackets) {
    for (const auto helper : {BPF_FUNC_xdp_adjust_head, BPF_FUNC_xdp_adjust_meta, BPF_FUNC_xdp_adjust_tail,
                              BPF_FUNC_xdp_store_bytes, BPF_FUNC_tail_call, BPF_FUNC_dynptr_write})
        EXPECT_FALSE(onlyLooks({call(helper), set(0, 2), end})) << helper;
    EXPECT_FALSE(onlyLooks({callKernel(0), set(0, 2), end}));
    EXPECT_FALSE(onlyLooks({data, copy(3, 2), call(BPF_FUNC_xdp_load_bytes), set(0, 2), end}))
        << "into the packet";
    EXPECT_TRUE(onlyLooks({set(2, 0), copy(3, 10), call(BPF_FUNC_xdp_load_bytes), set(0, 2), end}));
    EXPECT_TRUE(onlyLooks({data, call(BPF_FUNC_map_lookup_elem), set(0, 2), end})) << "a key in the packet";
    EXPECT_FALSE(onlyLooks({atomic(10, 4, 0x100), set(0, 2), end})) << "unknown here";
    EXPECT_FALSE(onlyLooks({callback, {}, set(0, 2), end}));
    EXPECT_FALSE(onlyLooks({set(0, 2)})) << "no program";
    EXPECT_FALSE(onlyLooks({}));
}

} // namespace
} // namespace tna::deploy
