// SPDX-License-Identifier: Apache-2.0
#include "deploy/program_template.hpp"

#include <bpf/bpf.h>
#include <string>

namespace tna::deploy {

namespace {
constexpr std::size_t verifierLogSize = 1U << 20U;

bool namesMap(const bpf_insn& instruction) {
    return instruction.code == (BPF_LD | BPF_DW | BPF_IMM) &&
           (instruction.src_reg == BPF_PSEUDO_MAP_FD || instruction.src_reg == BPF_PSEUDO_MAP_VALUE);
}

/// The verifier's last words before its statistics: what it objected to.
std::string complaint(const std::string& log) {
    const auto end = log.rfind("\nprocessed ");
    const auto text = log.substr(0, end);
    const auto line = text.rfind('\n', text.size() - 2);
    return line == std::string::npos ? text : text.substr(line + 1);
}
} // namespace

ProgramTemplate::ProgramTemplate(const bpf_program* program)
    : name_(bpf_program__name(program)),
      instructions_(bpf_program__insns(program),
                    bpf_program__insns(program) + bpf_program__insn_cnt(program)) {}

Result<UniqueFd> ProgramTemplate::load(const std::map<int, int>& replacedMaps) const {
    auto instructions = instructions_;
    for (auto& instruction : instructions)
        if (namesMap(instruction))
            if (const auto it = replacedMaps.find(instruction.imm); it != replacedMaps.end())
                instruction.imm = it->second;

    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_XDP,
                .prog_flags = BPF_F_XDP_HAS_FRAGS);
    UniqueFd fd{
        bpf_prog_load(BPF_PROG_TYPE_XDP, name_, "GPL", instructions.data(), instructions.size(), &options)};
    if (fd)
        return fd;
    const int code = -fd.get();
    const int error = errno;
    std::string log(verifierLogSize, '\0');
    options.log_buf = log.data();
    options.log_size = static_cast<__u32>(log.size());
    options.log_level = 1;
    fd.reset(
        bpf_prog_load(BPF_PROG_TYPE_XDP, name_, "GPL", instructions.data(), instructions.size(), &options));
    if (fd)
        return fd;
    log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
    auto failure = failErrno(code > 1 ? code : error, "the kernel refused the program '{}'", name_);
    failure.error().hint = complaint(log);
    return failure;
}

Result<UniqueFd> frozenConstants(const void* data, unsigned size) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_RDONLY_PROG);
    UniqueFd fd{bpf_map_create(BPF_MAP_TYPE_ARRAY, "tna_constants", sizeof(__u32), size, 1, &options)};
    if (!fd)
        return failErrno(errno, "cannot create the map of a profile's constants");
    const __u32 zero = 0;
    if (bpf_map_update_elem(fd.get(), &zero, data, BPF_ANY) != 0)
        return failErrno(errno, "cannot set a profile's constants");
    if (bpf_map_freeze(fd.get()) != 0)
        return failErrno(errno, "cannot freeze a profile's constants");
    return fd;
}

} // namespace tna::deploy
