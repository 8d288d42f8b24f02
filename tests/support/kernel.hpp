// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

namespace tna::test {

/// For what no probe tells. One that does not say its version is not older.
[[nodiscard]] inline bool kernelIsOlderThan(int major, int minor) {
    utsname name{};
    int ours[2]{};
    return ::uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &ours[0], &ours[1]) == 2 &&
           std::pair(ours[0], ours[1]) < std::pair(major, minor);
}

/// Whether the kernel tells how its structures are laid out, and takes what reads them: all that do not are
/// older, or were built without that. Else a fast path that reads nothing in place has something wrong.
[[nodiscard]] inline bool kernelIsReadInPlace() {
    return !kernelIsOlderThan(6, 6) && ::access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

} // namespace tna::test
