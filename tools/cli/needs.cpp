// SPDX-License-Identifier: Apache-2.0
#include "cli/needs.hpp"

#include "base/file.hpp"
#include "base/file_limit.hpp"

#include <unistd.h>

namespace tna::cli {

namespace {
/// A namespace has some ten devices, each with sockets and programs.
constexpr unsigned leastFiles = 256;

struct Place {
    const char* file;
    const char* what;
};
/// A file of each that all kernels have, and that is needed.
constexpr Place places[] = {{"/proc/thread-self/net/dev", "procfs at /proc"},
                            {"/sys/devices/system/cpu/possible", "sysfs at /sys"}};
} // namespace

Result<void> canMakeWorlds(const char* program) {
    if (::geteuid() != 0)
        return std::unexpected(Error{
            "makes network namespaces and loads programs", {}, "run it as root", ExitCode::noPermission});
    for (const auto& [file, what] : places)
        if (const auto read = readFile(file); !read)
            return std::unexpected(Error{fmt::format("{} needs {}", program, what), read.error().sentence(),
                                         "is it mounted?", ExitCode::notSupported});
    auto raised = raiseFileLimit(program, leastFiles);
    return raised ? raised : std::unexpected(std::move(raised.error()).withCode(ExitCode::notSupported));
}

} // namespace tna::cli
