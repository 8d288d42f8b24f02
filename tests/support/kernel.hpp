// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <sys/utsname.h>
#include <utility>

namespace tna::test {

/// For what no probe tells. One that does not say its version is not older.
[[nodiscard]] inline bool kernelIsOlderThan(int major, int minor) {
    utsname name{};
    int ours[2]{};
    return ::uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &ours[0], &ours[1]) == 2 &&
           std::pair(ours[0], ours[1]) < std::pair(major, minor);
}

} // namespace tna::test
