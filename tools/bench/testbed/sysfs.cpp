// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/sysfs.hpp"

#include <cerrno>
#include <sched.h>
#include <sys/mount.h>
#include <thread>

namespace tna::bench {

Result<void> moveToSysfsOf(const NetNamespace& where) {
    if (auto entered = where.enter(); !entered)
        return entered;
    // Busy is a /sys that is this namespace's already, as in a shell of `ip netns exec`.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0 ||
        (::mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0 && errno != EBUSY))
        return failErrno(errno, "cannot see the devices of a namespace");
    return {};
}

Result<void> withSysfsOf(const NetNamespace& where, const std::function<Result<void>()>& action) {
    Result<void> result;
    std::thread([&] {
        result = moveToSysfsOf(where);
        if (result)
            result = action();
    }).join();
    return result;
}

} // namespace tna::bench
