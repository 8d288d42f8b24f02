// SPDX-License-Identifier: Apache-2.0
#include "deploy/programs/program_template.hpp"

#include "deploy/programs/verifier_log.hpp"

#include <bpf/bpf.h>
#include <linux/pkt_cls.h>
#include <string>

namespace tna::deploy {

namespace {
bool loads64BitImmediate(const bpf_insn& instruction) {
    return instruction.code == (BPF_LD | BPF_DW | BPF_IMM);
}

void replaceMap(bpf_insn& instruction, const std::map<int, int>& replaced) {
    const bool namesMap = loads64BitImmediate(instruction) && (instruction.src_reg == BPF_PSEUDO_MAP_FD ||
                                                               instruction.src_reg == BPF_PSEUDO_MAP_VALUE);
    if (const auto it = namesMap ? replaced.find(instruction.imm) : replaced.end(); it != replaced.end())
        instruction.imm = it->second;
}

/// A 64-bit immediate takes two instructions; the mark is in the second, its upper half.
void setConstant(bpf_insn& low, bpf_insn& high, const Constants& constants) {
    const auto index = static_cast<std::uint32_t>(high.imm) - TNA_CONSTANT_MARK;
    if (!loads64BitImmediate(low) || low.src_reg != 0 || index >= constants.size())
        return;
    low.imm = static_cast<std::int32_t>(constants[index]);
    high.imm = static_cast<std::int32_t>(constants[index] >> 32U);
}

bool callsModule(const bpf_insn& instruction) {
    return instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == BPF_PSEUDO_KFUNC_CALL &&
           instruction.off > 0;
}

} // namespace

Buffers buffersOfKernel() {
    return loadPassAll(BPF_PROG_TYPE_XDP, Buffers::several) ? Buffers::several : Buffers::single;
}

std::uint32_t programFlags(Buffers buffers) {
    return buffers == Buffers::several ? BPF_F_XDP_HAS_FRAGS : 0;
}

ProgramTemplate::ProgramTemplate(const bpf_program* program, Buffers buffers, int moduleBtf)
    : name_(bpf_program__name(program)), type_(bpf_program__type(program)),
      attachType_(bpf_program__expected_attach_type(program)),
      flags_(type_ == BPF_PROG_TYPE_XDP ? programFlags(buffers) : 0),
      instructions_(bpf_program__insns(program),
                    bpf_program__insns(program) + bpf_program__insn_cnt(program)),
      functions_(functionPlacesOf(program)) {
    for (const auto& instruction : instructions_)
        if (callsModule(instruction) && typesByIndex_.size() <= static_cast<std::size_t>(instruction.off))
            typesByIndex_.resize(static_cast<std::size_t>(instruction.off) + 1, moduleBtf);
}

Instructions ProgramTemplate::instructions(const std::map<int, int>& replacedMaps,
                                           const Constants& constants) const {
    auto instructions = instructions_;
    for (std::size_t i = 0; i + 1 < instructions.size(); i++) {
        replaceMap(instructions[i], replacedMaps);
        setConstant(instructions[i], instructions[i + 1], constants);
    }
    return instructions;
}

Result<UniqueFd> ProgramTemplate::load(const Instructions& instructions) const {
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attachType_, .prog_flags = flags_,
                .fd_array = typesByIndex_.empty() ? nullptr : typesByIndex_.data());
    const auto functions =
        instructions.size() == instructions_.size() ? functions_ : functions_.within(instructions);
    if (functions.number != 0) {
        options.prog_btf_fd = static_cast<__u32>(functions.types);
        options.func_info = functions.records.data();
        options.func_info_cnt = functions.number;
        options.func_info_rec_size = functions.recordSize;
    }
    UniqueFd fd{bpf_prog_load(type_, name_, "GPL", instructions.data(), instructions.size(), &options)};
    if (fd)
        return fd;
    if (options.func_info != nullptr) { // a kernel may not take apart what it takes as a whole
        options.func_info = nullptr;
        options.func_info_cnt = options.func_info_rec_size = options.prog_btf_fd = 0;
        fd.reset(bpf_prog_load(type_, name_, "GPL", instructions.data(), instructions.size(), &options));
        if (fd)
            return fd;
    }
    const int code = -fd.get();
    const int error = errno;
    std::string log(verifierLogSize, '\0');
    options.log_buf = log.data();
    options.log_size = static_cast<__u32>(log.size());
    options.log_level = 4; // its objection, not how it came there
    fd.reset(bpf_prog_load(type_, name_, "GPL", instructions.data(), instructions.size(), &options));
    if (fd)
        return fd;
    log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
    auto failure = failErrno(code > 1 ? code : error, "the kernel refused the program '{}'", name_);
    failure.error().hint = complaint(log);
    return failure;
}

Result<UniqueFd> loadPassAll(bpf_prog_type type, Buffers buffers) {
    const bool xdp = type == BPF_PROG_TYPE_XDP;
    const bpf_insn instructions[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = xdp ? static_cast<int>(XDP_PASS) : TC_ACT_UNSPEC},
        {.code = BPF_JMP | BPF_EXIT}};
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    if (xdp) {
        options.expected_attach_type = BPF_XDP;
        options.prog_flags = programFlags(buffers);
    }
    UniqueFd fd{bpf_prog_load(type, "tna_pass", "GPL", instructions, std::size(instructions), &options)};
    if (!fd)
        return failErrno(errno, "the kernel refused a program of two instructions");
    return fd;
}

} // namespace tna::deploy
