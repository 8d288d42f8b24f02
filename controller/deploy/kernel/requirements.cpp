// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/requirements.hpp"

#include "base/unique_fd.hpp"

#include <bpf/libbpf.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <utility>

namespace tna::deploy {

namespace {
/// Programs that read the kernel in place need it here; libbpf's other places would not do for kfuncs.
constexpr const char* kernelBtf = "/sys/kernel/btf/vmlinux";

/// The effective capabilities, as a bit set; none if they cannot be read.
std::uint64_t effectiveCapabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) != 0)
        return 0;
    return data[0].effective | std::uint64_t{data[1].effective} << 32U;
}

std::vector<std::string> missingCapabilities() {
    const auto held = effectiveCapabilities();
    const auto has = [&](unsigned capability) { return (held >> capability & 1U) != 0; };
    std::vector<std::string> missing;
    // CAP_SYS_ADMIN stands for the two that were split off it in Linux 5.8.
    if (!has(CAP_BPF) && !has(CAP_SYS_ADMIN))
        missing.emplace_back("CAP_BPF");
    if (!has(CAP_NET_ADMIN))
        missing.emplace_back("CAP_NET_ADMIN");
    if (!has(CAP_PERFMON) && !has(CAP_SYS_ADMIN))
        missing.emplace_back("CAP_PERFMON");
    if (!has(CAP_SYS_ADMIN))
        missing.emplace_back("CAP_SYS_ADMIN"); // BPF_BTF_GET_NEXT_ID, for the types of modules
    return missing;
}
} // namespace

Machine thisMachine() {
    utsname name{};
    ::uname(&name);
    const UniqueFd btf{::open(kernelBtf, O_RDONLY | O_CLOEXEC)};
    const int btfError = btf ? 0 : errno;
    const int processors = libbpf_num_possible_cpus();
    return {name.release, missingCapabilities(), btfError, processors > 0 ? 0 : -processors};
}

std::optional<Error> missingRequirement(const Machine& machine) {
    if (!machine.missingCapabilities.empty())
        return Error{"it lacks privileges", fmt::format("{}", fmt::join(machine.missingCapabilities, ", ")),
                     "run it as root, or let systemd start it: `systemctl start tnad`",
                     ExitCode::noPermission};
    if (machine.processorsError != 0) // maps have a value for each of them
        return Error{"cannot ask how many processors there may be, in /sys/devices/system/cpu/possible",
                     errnoText(machine.processorsError), "is /sys mounted?"};
    return std::nullopt;
}

std::optional<Error> missingForReadingInPlace(const Machine& machine) {
    if (machine.btfError != 0)
        return Error{fmt::format("the kernel does not describe its types, {} cannot be opened", kernelBtf),
                     errnoText(machine.btfError),
                     "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as Debian's are; is /sys mounted?",
                     ExitCode::notSupported};
    return std::nullopt;
}

namespace {
/// By the first two numbers; a release that does not say any is not older.
bool isOlder(const std::string& release, const char* than) {
    int ours[2]{}, theirs[2]{};
    return std::sscanf(release.c_str(), "%d.%d", &ours[0], &ours[1]) == 2 &&
           std::sscanf(than, "%d.%d", &theirs[0], &theirs[1]) == 2 &&
           std::pair(ours[0], ours[1]) < std::pair(theirs[0], theirs[1]);
}
} // namespace

Error explainRefusal(std::string what, int code, const Machine& machine, const char* needed) {
    Error error{std::move(what), errnoText(code), {}, ExitCode::notSupported};
    if (code == EPERM) {
        error.hint = "are capabilities restricted by a container, or BPF by lockdown or a seccomp filter? "
                     "`tnad --log-level debug` shows libbpf's words";
        error.code = ExitCode::noPermission;
    } else if (code == ENOMEM) {
        error.hint = "lower max_ports or flows_per_cpu under [limits] in the configuration";
        error.code = ExitCode::failure;
    } else if (isOlder(machine.release, needed) || code == ENOSYS || code == EOPNOTSUPP) {
        error.hint = fmt::format("needs Linux {} or newer, this is {}; `tnad --log-level debug` shows "
                                 "the verifier's words",
                                 needed, machine.release);
    } else { // nothing that the kernel lacks
        error.hint = fmt::format("Linux {} or newer takes it, but this one, {}, does not; `tnad --log-level "
                                 "debug` shows the verifier's words",
                                 needed, machine.release);
        error.code = ExitCode::failure;
    }
    return error;
}

} // namespace tna::deploy
