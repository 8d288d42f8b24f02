// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/temporary_folder.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace tna::bench {

namespace {
const std::string ownPrefix = "tna-bench-";
} // namespace

bool isDead(pid_t process) {
    if (::kill(process, 0) != 0)
        return errno == ESRCH;
    // "1234 (name) Z": nobody has waited for it yet. A name may have parentheses of its own.
    const auto stat = readFile(fmt::format("/proc/{}/stat", process)).value_or("");
    const auto name = stat.rfind(')');
    return name != std::string::npos && name + 2 < stat.size() &&
           (stat[name + 2] == 'Z' || stat[name + 2] == 'X');
}

bool ownerIsDead(const std::string& name, const std::string& prefix) {
    if (!name.starts_with(prefix))
        return false;
    const pid_t owner = std::atoi(name.c_str() + prefix.size());
    return owner > 0 && isDead(owner);
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& where) {
    auto path = fmt::format("{}/{}{}-XXXXXX", where, ownPrefix, ::getpid());
    if (::mkdtemp(path.data()) == nullptr)
        return failErrno(errno, "cannot make a folder in {}", where);
    return TemporaryFolder{std::move(path)};
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty())
        std::filesystem::remove_all(path_, ignored);
}

unsigned TemporaryFolder::removeLeftovers(const std::string& where) {
    unsigned removed = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(where, none))
        if (ownerIsDead(entry.path().filename().string(), ownPrefix) && entry.is_directory(none) &&
            std::filesystem::remove_all(entry.path(), none) > 0)
            removed++;
    return removed;
}

} // namespace tna::bench
