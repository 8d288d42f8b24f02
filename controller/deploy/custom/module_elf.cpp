// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/module_elf.hpp"

#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::deploy {

namespace {
constexpr const char* howToBuild = "compile it with `clang -g -O2 -target bpf -c`, as tna-fpm(7) shows";
constexpr rlim_t mostSeconds = 5;
constexpr rlim_t mostMemory = rlim_t{1} << 30U; ///< with what the daemon itself has
constexpr std::size_t mostSections = 1024;

std::unexpected<Error> notAnObject(std::string cause) {
    return std::unexpected(Error{"this is not a custom module", std::move(cause), howToBuild});
}

bool within(const std::string& object, std::uint64_t offset, std::uint64_t size) {
    return offset <= object.size() && size <= object.size() - offset;
}

[[noreturn]] void openAndExit(const std::string& object) {
    // Were the daemon killed meanwhile, ports would stay attached for as long as somebody has their links.
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    for (const auto& [resource, most] :
         {std::pair{RLIMIT_CPU, mostSeconds}, std::pair{RLIMIT_CORE, rlim_t{0}}}) {
        const rlimit limit{most, most};
        ::setrlimit(resource, &limit);
    }
#ifndef __SANITIZE_ADDRESS__ // that needs terabytes of its own
    const rlimit memory{mostMemory, mostMemory};
    ::setrlimit(RLIMIT_DATA, &memory);
#endif
    ::alarm(2 * mostSeconds);
    libbpf_set_print(nullptr); // another thread may have held the log's lock
    bpf_object* opened = bpf_object__open_mem(object.data(), object.size(), nullptr);
    ::_exit(opened == nullptr ? 1 : 0);
}
} // namespace

Result<void> checkElf(const std::string& object) {
    if (object.size() > largestModule)
        return std::unexpected(Error{"the object is too large",
                                     fmt::format("{} bytes are the most", largestModule),
                                     "`llvm-strip -g` takes debugging information out and leaves BTF in"});
    Elf64_Ehdr header{};
    if (object.size() < sizeof(header))
        return notAnObject("it is too short");
    std::memcpy(&header, object.data(), sizeof(header));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return notAnObject("it is no ELF file");
    constexpr auto order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != order ||
        header.e_machine != EM_BPF || header.e_type != ET_REL)
        return notAnObject("it is not an object for BPF");
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > mostSections ||
        !within(object, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)))
        return notAnObject("its table of sections is damaged");
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section{};
        std::memcpy(&section, object.data() + header.e_shoff + i * sizeof(section), sizeof(section));
        if (section.sh_type != SHT_NOBITS && !within(object, section.sh_offset, section.sh_size))
            return notAnObject(fmt::format("its section {} lies outside of it", i));
    }
    return {};
}

Result<void> tryToOpen(const std::string& object) {
    const pid_t child = ::fork();
    if (child < 0)
        return failErrno(errno, "cannot look at the object");
    if (child == 0)
        openAndExit(object);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return failErrno(errno, "cannot look at the object");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    return notAnObject(WIFEXITED(status) ? "libbpf does not take it"
                                         : "reading it took too long, or made the reader crash");
}

} // namespace tna::deploy
