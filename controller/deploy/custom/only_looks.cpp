// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/only_looks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tna::deploy {

namespace {
using Registers = std::uint16_t; ///< one bit each

constexpr Registers bit(unsigned number) {
    return static_cast<Registers>(1U << number);
}

/// What the kernel does for a program: how many arguments it takes, and whether it reads only what they point
/// to. Not here: what changes packets, and tail calls, behind which another program may.
struct Helper {
    std::int32_t number;
    unsigned arguments;
    bool reads;
};
constexpr std::array helpers{
    Helper{BPF_FUNC_map_lookup_elem, 2, true},
    Helper{BPF_FUNC_map_update_elem, 4, true},
    Helper{BPF_FUNC_map_delete_elem, 2, true},
    Helper{BPF_FUNC_ktime_get_ns, 0, true},
    Helper{BPF_FUNC_trace_printk, 5, false},
    Helper{BPF_FUNC_get_prandom_u32, 0, true},
    Helper{BPF_FUNC_get_smp_processor_id, 0, true},
    Helper{BPF_FUNC_perf_event_output, 5, true},
    Helper{BPF_FUNC_redirect, 2, true},
    Helper{BPF_FUNC_skb_load_bytes, 4, false},
    Helper{BPF_FUNC_csum_diff, 5, true},
    Helper{BPF_FUNC_skb_pull_data, 2, true}, // brings bytes here
    Helper{BPF_FUNC_redirect_map, 3, true},
    Helper{BPF_FUNC_fib_lookup, 4, false},
    Helper{BPF_FUNC_spin_lock, 1, false},
    Helper{BPF_FUNC_spin_unlock, 1, false},
    Helper{BPF_FUNC_jiffies64, 0, true},
    Helper{BPF_FUNC_ktime_get_boot_ns, 0, true},
    Helper{BPF_FUNC_ringbuf_output, 4, true},
    Helper{BPF_FUNC_ringbuf_reserve, 3, true},
    Helper{BPF_FUNC_ringbuf_submit, 2, true},
    Helper{BPF_FUNC_ringbuf_discard, 2, true},
    Helper{BPF_FUNC_ringbuf_query, 2, true},
    Helper{BPF_FUNC_ktime_get_coarse_ns, 0, true},
    Helper{BPF_FUNC_xdp_get_buff_len, 1, true},
    Helper{BPF_FUNC_xdp_load_bytes, 4, false},
};

const Helper* helperOf(std::int32_t number) {
    for (const auto& helper : helpers)
        if (helper.number == number)
            return &helper;
    return nullptr;
}

/// Registers that may hold something made of the address of a packet, or of that of the program's context,
/// where a packet's addresses are loaded from.
struct Holding {
    Registers packet = 0;
    Registers context = 0;
    bool operator==(const Holding&) const = default;
};

class Walk {
public:
    Walk(const Instructions& program, assemble::Hook hook)
        : program_(program), hook_(hook), at_(program.size()), reached_(program.size()) {}

    bool changesNothing() {
        if (program_.empty())
            return false;
        // What is put aside, or returned, holds wherever something is loaded: until nothing more comes of it.
        do {
            again_ = false;
            reach(0, {.context = bit(BPF_REG_1)});
            for (std::size_t i = 0; i < program_.size(); i++)
                if (reached_[i])
                    step(i, at_[i]);
        } while (again_ && !changes_);
        return !changes_;
    }

private:
    void reach(std::size_t index, const Holding& holding) {
        if (index >= program_.size()) {
            changes_ = true; // that is no program
            return;
        }
        auto& there = at_[index];
        const Holding both{static_cast<Registers>(there.packet | holding.packet),
                           static_cast<Registers>(there.context | holding.context)};
        if (reached_[index] && both == there)
            return;
        reached_[index] = true;
        there = both;
        again_ = true;
    }
    void reach(std::size_t index, std::ptrdiff_t distance, const Holding& holding) {
        reach(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(index) + 1 + distance), holding);
    }

    static void set(Registers& registers, unsigned number, bool value) {
        registers = static_cast<Registers>(value ? registers | bit(number) : registers & ~bit(number));
    }
    void remember(bool& once, bool now) {
        again_ |= now && !once;
        once |= now;
    }

    static void calculate(const bpf_insn& instruction, Holding& holding) {
        const auto operation = BPF_OP(instruction.code);
        const bool fromRegister =
            BPF_SRC(instruction.code) == BPF_X && operation != BPF_NEG && operation != BPF_END;
        const bool packet = fromRegister && (holding.packet & bit(instruction.src_reg)) != 0;
        const bool context = fromRegister && (holding.context & bit(instruction.src_reg)) != 0;
        if (operation == BPF_MOV) {
            set(holding.packet, instruction.dst_reg, packet);
            set(holding.context, instruction.dst_reg, context);
            return;
        }
        // A context that has been calculated with: whatever is loaded there may be the packet's address.
        if (packet || context || (holding.context & bit(instruction.dst_reg)) != 0)
            set(holding.packet, instruction.dst_reg, true);
        if (context)
            set(holding.context, instruction.dst_reg, true);
    }

    /// What the program's context has there: an address within the packet.
    [[nodiscard]] bool isAddress(std::int16_t offset) const {
        const auto at = static_cast<std::size_t>(offset);
        return hook_ == assemble::Hook::xdp
                   ? at <= offsetof(xdp_md, data_meta)
                   : at == offsetof(__sk_buff, data) || at == offsetof(__sk_buff, data_end) ||
                         at == offsetof(__sk_buff, data_meta);
    }

    void load(const bpf_insn& instruction, Holding& holding) const {
        const bool fromContext = (holding.context & bit(instruction.src_reg)) != 0;
        const bool calculated = (holding.packet & bit(instruction.src_reg)) != 0;
        const bool address = isAddress(instruction.off);
        const bool whole = BPF_SIZE(instruction.code) == BPF_DW;
        set(holding.packet, instruction.dst_reg,
            (fromContext && (calculated || address)) || (whole && packetAside_));
        set(holding.context, instruction.dst_reg, whole && contextAside_);
    }

    void store(const bpf_insn& instruction, Holding& holding) {
        if (((holding.packet | holding.context) & bit(instruction.dst_reg)) != 0)
            changes_ = true;
        if (BPF_CLASS(instruction.code) != BPF_STX)
            return;
        if (BPF_SIZE(instruction.code) != BPF_DW) // than which an address is no smaller
            return;
        remember(packetAside_, (holding.packet & bit(instruction.src_reg)) != 0);
        remember(contextAside_, (holding.context & bit(instruction.src_reg)) != 0);
        if (BPF_MODE(instruction.code) != BPF_ATOMIC)
            return;
        if ((instruction.imm & ~0xff) != 0) // newer than this
            changes_ = true;
        // What was there comes back in one of these.
        for (const unsigned number : {unsigned{instruction.src_reg}, unsigned{BPF_REG_0}}) {
            set(holding.packet, number, (holding.packet & bit(number)) != 0 || packetAside_);
            set(holding.context, number, (holding.context & bit(number)) != 0 || contextAside_);
        }
    }

    void call(std::size_t index, const bpf_insn& instruction, Holding& holding) {
        constexpr Registers passed = bit(1) | bit(2) | bit(3) | bit(4) | bit(5);
        bool packet = false, context = false;
        if (instruction.src_reg == BPF_PSEUDO_CALL) {
            reach(index, instruction.imm,
                  {static_cast<Registers>(holding.packet & passed),
                   static_cast<Registers>(holding.context & passed)});
            packet = packetReturned_;
            context = contextReturned_;
        } else {
            const auto* helper = instruction.src_reg == 0 ? helperOf(instruction.imm) : nullptr;
            const auto given = helper == nullptr
                                   ? Registers{0}
                                   : static_cast<Registers>(passed & (bit(helper->arguments + 1) - 1));
            if (helper == nullptr || (!helper->reads && (holding.packet & given) != 0))
                changes_ = true;
        }
        constexpr auto lost = static_cast<Registers>(~(passed | bit(0)));
        holding.packet &= lost;
        holding.context &= lost;
        set(holding.packet, BPF_REG_0, packet);
        set(holding.context, BPF_REG_0, context);
    }

    /// False where nothing follows it in its place.
    bool jump(std::size_t index, const bpf_insn& instruction, Holding& holding) {
        switch (BPF_OP(instruction.code)) {
        case BPF_EXIT:
            remember(packetReturned_, (holding.packet & bit(0)) != 0);
            remember(contextReturned_, (holding.context & bit(0)) != 0);
            return false;
        case BPF_CALL:
            call(index, instruction, holding);
            return true;
        case BPF_JA:
            reach(index, BPF_CLASS(instruction.code) == BPF_JMP32 ? instruction.imm : instruction.off,
                  holding);
            return false;
        default:
            reach(index, instruction.off, holding);
            return true;
        }
    }

    void step(std::size_t index, Holding holding) {
        const auto& instruction = program_[index];
        std::ptrdiff_t skipped = 0;
        switch (BPF_CLASS(instruction.code)) {
        case BPF_ALU:
        case BPF_ALU64:
            calculate(instruction, holding);
            break;
        case BPF_LD: // a constant, in two; callbacks and what else there may be are not followed
            if (instruction.code != (BPF_LD | BPF_DW | BPF_IMM) || instruction.src_reg == BPF_PSEUDO_FUNC)
                changes_ = true;
            set(holding.packet, instruction.dst_reg, false);
            set(holding.context, instruction.dst_reg, false);
            skipped = 1;
            break;
        case BPF_LDX:
            load(instruction, holding);
            break;
        case BPF_ST:
        case BPF_STX:
            store(instruction, holding);
            break;
        default:
            if (!jump(index, instruction, holding))
                return;
        }
        reach(index, skipped, holding);
    }

    const Instructions& program_;
    assemble::Hook hook_;
    std::vector<Holding> at_; ///< before each instruction
    std::vector<bool> reached_;
    bool packetAside_ = false; ///< somewhere in memory
    bool contextAside_ = false;
    bool packetReturned_ = false;
    bool contextReturned_ = false;
    bool changes_ = false;
    bool again_ = false;
};
} // namespace

bool onlyLooks(const Instructions& program, assemble::Hook at) {
    return Walk(program, at).changesNothing();
}

} // namespace tna::deploy
