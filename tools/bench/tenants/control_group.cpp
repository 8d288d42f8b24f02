// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/control_group.hpp"

#include "base/file.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
namespace fs = std::filesystem;
const std::string root = "/sys/fs/cgroup/";
const std::string prefix = "tna-bench-";
constexpr auto patience = std::chrono::seconds(20);

/// Of version 2, one for all; of version 1, one for each of what is needed.
bool isUnified() {
    return fs::exists(root + "cgroup.controllers");
}

std::vector<std::string> hierarchies() {
    if (isUnified())
        return {root};
    std::vector<std::string> list;
    for (const char* name : {"cpu/", "memory/", "pids/"})
        if (fs::exists(root + name + "cgroup.procs"))
            list.push_back(root + name);
    return list;
}

std::vector<pid_t> processesOf(const std::string& folder) {
    std::set<pid_t> found;
    const auto add = [&](const fs::path& inner) {
        std::istringstream text{readFile(inner / "cgroup.procs").value_or("")};
        for (pid_t one = 0; text >> one;)
            found.insert(one);
    };
    add(folder);
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.is_directory(none))
            add(entry.path());
    return {found.begin(), found.end()};
}

void endAndRemove(const std::string& folder) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::error_code none;
    while (fs::exists(folder, none) && std::chrono::steady_clock::now() < deadline) {
        for (const pid_t process : processesOf(folder))
            ::kill(process, SIGKILL);
        for (const auto& entry : fs::directory_iterator(folder, none))
            if (entry.is_directory(none))
                ::rmdir(entry.path().c_str());
        if (::rmdir(folder.c_str()) == 0)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// Whatever a version calls it.
Result<void> limit(const std::string& folder, const ControlGroup::Limits& limits) {
    for (const auto& [file, most] : {std::pair{"memory.max", std::to_string(limits.bytes)},
                                     {"memory.limit_in_bytes", std::to_string(limits.bytes)},
                                     {"pids.max", std::to_string(limits.processes)},
                                     {"cpu.shares", limits.first ? "88761" : "1024"},
                                     {"cpu.weight", limits.first ? "8668" : "100"}})
        if (const auto path = folder + "/" + file; fs::exists(path))
            if (auto set = writeFile(path, most); !set)
                return set;
    return {};
}
} // namespace

Result<ControlGroup> ControlGroup::make(const std::string& role, const Limits& limits) {
    ControlGroup group;
    if (isUnified())
        (void)writeFile(root + "cgroup.subtree_control", "+cpu +memory +pids");
    for (const auto& hierarchy : hierarchies()) {
        const auto folder = fmt::format("{}{}{}-{}", hierarchy, prefix, ::getpid(), role);
        if (::mkdir(folder.c_str(), 0755) != 0)
            return failErrno(errno, "cannot make the control group {}", folder);
        group.folders_.push_back(folder);
        if (auto limited = limit(folder, limits); !limited)
            return std::unexpected(limited.error());
        if (isUnified())
            (void)writeFile(folder + "/cgroup.subtree_control", "+cpu");
    }
    if (group.folders_.empty() ||
        (!fs::exists(group.folders_[0] + "/cpu.weight") && !fs::exists(group.folders_[0] + "/cpu.shares")))
        return fail("this machine has no control groups for processors");
    return group;
}

ControlGroup::~ControlGroup() {
    for (const auto& folder : folders_)
        endAndRemove(folder);
}

Result<void> ControlGroup::makeInner(const std::string& name) const {
    const auto folder = folders_.front() + "/" + name;
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
        return failErrno(errno, "cannot make the control group {}", folder);
    return {};
}

std::vector<std::string> ControlGroup::inside(const std::string& inner,
                                              const std::vector<std::string>& words) const {
    std::string script;
    for (const auto& folder : folders_)
        script += fmt::format("echo $$ > {}{}/cgroup.procs && ", folder,
                              &folder == &folders_.front() && !inner.empty() ? "/" + inner : "");
    std::vector<std::string> line{"sh", "-c", script + "renice -n 0 -p $$ > /dev/null && exec \"$@\"", "sh"};
    line.insert(line.end(), words.begin(), words.end());
    return line;
}

std::vector<pid_t> ControlGroup::processes() const {
    return processesOf(folders_.front());
}

unsigned ControlGroup::removeLeftovers() {
    std::set<std::string> removed;
    std::error_code none;
    for (const auto& hierarchy : hierarchies())
        for (const auto& entry : fs::directory_iterator(hierarchy, none)) {
            const auto name = entry.path().filename().string();
            if (!ownerIsDead(name, prefix))
                continue;
            endAndRemove(entry.path());
            removed.insert(name);
        }
    return static_cast<unsigned>(removed.size());
}

} // namespace tna::bench
