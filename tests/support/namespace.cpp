// SPDX-License-Identifier: Apache-2.0
#include "support/namespace.hpp"

#include "base/file.hpp"
#include "support/command.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>

namespace tna::test {

namespace {
const std::string prefix = "tna-t-";

void sweepLeftovers() {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/run/netns", none)) {
        const auto name = entry.path().filename().string();
        if (!name.starts_with(prefix))
            continue;
        const pid_t owner = std::atoi(name.c_str() + prefix.size());
        if (owner > 0 && ::kill(owner, 0) != 0)
            command({"ip", "netns", "del", name});
    }
}

std::string nextName() {
    static std::atomic<unsigned> count{0};
    if (count == 0)
        sweepLeftovers();
    return prefix + std::to_string(::getpid()) + "-" + std::to_string(count++);
}
} // namespace

Namespace::Namespace() : name_(nextName()) {
    open(command({"ip", "netns", "add", name_}).output);
    const auto scope = enter();
    sysctl("net.ipv6.conf.all.disable_ipv6", "1");
    sysctl("net.ipv6.conf.default.disable_ipv6", "1");
}

Namespace::Namespace(const std::string& file) : name_(nextName()) {
    const auto here = "/run/netns/" + name_;
    std::ofstream{here};
    // As it is: what the file stands for may be seen by another process only, by way of /proc.
    open(command({"mount", "--no-canonicalize", "--bind", file, here}).output);
}

void Namespace::open(const std::string& made) {
    auto handle = NetNamespace::named(name_);
    if (!made.empty() || !handle)
        throw std::runtime_error("cannot make a network namespace: " + made);
    handle_.emplace(std::move(*handle));
}

Namespace::~Namespace() {
    command({"ip", "netns", "del", name_});
}

NamespaceScope Namespace::enter() const {
    auto scope = NamespaceScope::enter(*handle_);
    if (!scope)
        throw std::runtime_error(scope.error().sentence());
    return std::move(*scope);
}

void sysctl(const std::string& name, const std::string& value) {
    std::string path = "/proc/sys/" + name;
    std::ranges::replace(path, '.', '/');
    const auto written = writeFile(path, value);
    ASSERT_TRUE(written) << written.error().sentence();
}

std::string cannotUseNamespaces() {
    if (::geteuid() != 0)
        return "needs root: makes network namespaces";
    if (command({"ip", "-V"}).exitCode != 0)
        return "needs iproute2";
    return {};
}

} // namespace tna::test
