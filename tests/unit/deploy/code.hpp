// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <linux/bpf.h>

/// Instructions, written down.
namespace tna::deploy::code {

/// Numbers of registers are fields of four bits.
constexpr bpf_insn instruction(unsigned code, unsigned to, unsigned from, std::int16_t offset,
                               std::int32_t value) {
    return {.code = static_cast<std::uint8_t>(code),
            .dst_reg = static_cast<std::uint8_t>(to & 0xfU),
            .src_reg = static_cast<std::uint8_t>(from & 0xfU),
            .off = offset,
            .imm = value};
}

constexpr auto end = instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
constexpr auto callback = instruction(BPF_LD | BPF_DW | BPF_IMM, 0, BPF_PSEUDO_FUNC, 0, 3);

constexpr bpf_insn set(unsigned to, std::int32_t value) {
    return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}
constexpr bpf_insn copy(unsigned to, unsigned from) {
    return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}
constexpr bpf_insn add(unsigned to, std::int32_t value) {
    return instruction(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value);
}
constexpr bpf_insn addFrom(unsigned to, unsigned from) {
    return instruction(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0);
}
constexpr bpf_insn load(unsigned size, unsigned to, unsigned from, std::int16_t offset) {
    return instruction(BPF_LDX | size | BPF_MEM, to, from, offset, 0);
}
constexpr bpf_insn store(unsigned size, unsigned to, std::int16_t offset, unsigned from) {
    return instruction(BPF_STX | size | BPF_MEM, to, from, offset, 0);
}
constexpr bpf_insn storeNumber(unsigned to) {
    return instruction(BPF_ST | BPF_W | BPF_MEM, to, 0, 0, 1);
}
constexpr bpf_insn atomic(unsigned to, unsigned from, std::int32_t operation) {
    return instruction(BPF_STX | BPF_DW | BPF_ATOMIC, to, from, -8, operation);
}
constexpr bpf_insn call(std::int32_t helper) {
    return instruction(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}
constexpr bpf_insn callFunction(std::int32_t distance) {
    return instruction(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, distance);
}
constexpr bpf_insn callKernel(std::int16_t types) {
    return instruction(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, types, 5);
}
constexpr bpf_insn ifZero(unsigned number, std::int16_t distance) {
    return instruction(BPF_JMP | BPF_JEQ | BPF_K, number, 0, distance, 0);
}

} // namespace tna::deploy::code
