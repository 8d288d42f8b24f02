// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/machine.hpp"

#include "base/file.hpp"
#include "bench/contenders/external.hpp"

#include <unistd.h>

namespace tna::bench {

namespace {
constexpr const char* qemu = "qemu-system-x86_64";
constexpr unsigned alignment = 4;

void pad(std::string& text) {
    text.resize((text.size() + alignment - 1) / alignment * alignment);
}

std::string guestFile(const std::string& folder) {
    return folder + "/guest.cpio";
}
} // namespace

std::string whyNoMachines(const std::string& kernel) {
    if (findInPath(qemu).empty())
        return fmt::format("'{}' is not installed (apt-get install qemu-system-x86)", qemu);
    if (findInPath("busybox").empty())
        return "'busybox' is not installed (apt-get install busybox-static)";
    return ::access(kernel.c_str(), R_OK) == 0 ? "" : fmt::format("cannot read the kernel '{}'", kernel);
}

std::vector<std::string> machineWords(const std::string& kernel, const std::string& folder) {
    // Emulated, which works anywhere; a hypervisor within another one may not.
    return {qemu,
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-accel",
            "tcg,tb-size=32",
            "-cpu",
            "max,la57=off",
            "-m",
            fmt::format("{}M", machineMebibytes),
            "-kernel",
            kernel,
            "-initrd",
            guestFile(folder),
            "-append",
            "quiet panic=-1 no_timer_check"};
}

Result<void> writeGuest(const std::string& folder) {
    const auto shell = readFile(findInPath("busybox"));
    if (!shell)
        return std::unexpected(shell.error());
    return writeFile(guestFile(folder),
                     archiveOf({{"busybox", *shell}, {"init", "#!/busybox sh\nwhile :; do :; done\n"}}));
}

/// cpio's "newc": a header of hexadecimal numbers, the name, the content, each padded.
std::string archiveOf(const std::vector<std::pair<std::string, std::string>>& files) {
    constexpr unsigned executable = 0100755;
    std::string archive;
    unsigned number = 0;
    const auto add = [&](const std::string& name, const std::string& content, unsigned mode) {
        archive += "070701";
        for (const std::size_t field :
             {std::size_t{++number}, std::size_t{mode}, std::size_t{0}, std::size_t{0}, std::size_t{1},
              std::size_t{0}, content.size(), std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{0},
              name.size() + 1, std::size_t{0}})
            archive += fmt::format("{:08x}", field);
        archive += name;
        archive += '\0';
        pad(archive);
        archive += content;
        pad(archive);
    };
    for (const auto& [name, content] : files)
        add(name, content, executable);
    add("TRAILER!!!", "", 0);
    return archive;
}

} // namespace tna::bench
