// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/kfunc.hpp"

#include <array>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <cerrno>
#include <memory>

namespace tna::deploy {

namespace {
using Btf = std::unique_ptr<btf, void (*)(btf*)>;

bool knows(const Btf& types, const char* function) {
    return types && btf__find_by_name_kind(types.get(), function, BTF_KIND_FUNC) > 0;
}

/// Of a module's types, its name; empty for those of the kernel itself and of programs.
std::string moduleOf(int types) {
    std::array<char, 64> name{};
    bpf_btf_info info{};
    info.name = reinterpret_cast<std::uintptr_t>(name.data());
    info.name_len = name.size();
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(types, &info, &size) != 0 || info.kernel_btf == 0)
        return {};
    const std::string module = name.data();
    return module == "vmlinux" ? std::string{} : module;
}
} // namespace

Result<Kfunc> findKfunc(const char* name) {
    const Btf kernel{btf__load_vmlinux_btf(), btf__free};
    if (!kernel)
        return failErrno(errno, "cannot read the kernel's types");
    if (knows(kernel, name))
        return Kfunc{"vmlinux", {}};
    for (__u32 id = 0; bpf_btf_get_next_id(id, &id) == 0;) {
        UniqueFd types{bpf_btf_get_fd_by_id(id)};
        const auto module = types ? moduleOf(types.get()) : std::string{};
        if (module.empty())
            continue;
        const Btf own{btf__load_from_kernel_by_id_split(id, kernel.get()), btf__free};
        if (knows(own, name))
            return Kfunc{module, std::move(types)};
    }
    return std::unexpected(Error{fmt::format("neither this kernel nor a module of it has {}", name),
                                 {},
                                 "see kernel-patches/README.md",
                                 ExitCode::notSupported});
}

} // namespace tna::deploy
