// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/driver_thread.hpp"

#include "base/file.hpp"
#include "bench/testbed/sysfs.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sched.h>
#include <set>

namespace tna::bench {

namespace {
/// Those of devices of this name, in all namespaces.
std::set<pid_t> driverThreads(const std::string& device) {
    std::set<pid_t> threads;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
        const auto name = entry.path().filename().string();
        pid_t number = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{} &&
            readFile(entry.path() / "comm").value_or("").starts_with("napi/" + device + "-"))
            threads.insert(number);
    }
    return threads;
}
} // namespace

Result<pid_t> giveDriverItsThread(const NetNamespace& where, const std::string& device, unsigned cpu) {
    const auto before = driverThreads(device);
    if (auto set =
            withSysfsOf(where, [&] { return writeFile("/sys/class/net/" + device + "/threaded", "1"); });
        !set)
        return std::unexpected(set.error());
    pid_t found = 0;
    for (const pid_t thread : driverThreads(device)) {
        if (before.contains(thread))
            continue;
        found = thread;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        if (::sched_setaffinity(thread, sizeof(own), &own) != 0)
            return failErrno(errno, "cannot put the thread of {} on a processor", device);
    }
    if (found == 0)
        return fail("the driver of {} got no thread", device);
    return found;
}

} // namespace tna::bench
