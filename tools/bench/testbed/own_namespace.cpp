// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/own_namespace.hpp"

#include "base/file.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <atomic>
#include <filesystem>
#include <unistd.h>

namespace tna::bench {

namespace {
const std::string prefix = "tnab-";
constexpr const char* netfilterFolder = "/proc/sys/net/bridge/";

Result<void> quieten() {
    for (const char* scope : {"all", "default"}) {
        const auto path = fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", scope);
        if (std::filesystem::exists(path))
            if (auto set = writeFile(path, "1"); !set)
                return set;
    }
    return std::filesystem::exists(netfilterFolder) ? setBridgeNetfilter(false) : Result<void>{};
}
} // namespace

Result<void> setBridgeNetfilter(bool on) {
    if (!std::filesystem::exists(netfilterFolder))
        return fail("br_netfilter is not in this kernel");
    for (const char* family : {"iptables", "ip6tables", "arptables"})
        if (auto set = writeFile(fmt::format("{}bridge-nf-call-{}", netfilterFolder, family), on ? "1" : "0");
            !set)
            return set;
    return {};
}

Result<OwnNamespace> OwnNamespace::make(const std::string& role) {
    static std::atomic<unsigned> count{0};
    OwnNamespace made;
    const auto name = fmt::format("{}{}-{}{}", prefix, ::getpid(), role, count++);
    if (auto added = runProgram({"ip", "netns", "add", name}); !added)
        return std::unexpected(added.error());
    made.name_ = name;
    auto handle = NetNamespace::named(name);
    if (!handle)
        return std::unexpected(handle.error());
    made.handle_.emplace(std::move(*handle));
    auto inside = NamespaceScope::enter(*made.handle_);
    if (!inside)
        return std::unexpected(inside.error());
    if (auto done = quieten(); !done)
        return std::unexpected(done.error());
    return made;
}

OwnNamespace::~OwnNamespace() {
    if (!name_.empty()) [[maybe_unused]]
        const auto deleted = runProgram({"ip", "netns", "del", name_});
}

unsigned removeLeftovers() {
    unsigned removed = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/run/netns", none)) {
        const auto name = entry.path().filename().string();
        if (ownerIsDead(name, prefix) && runProgram({"ip", "netns", "del", name}))
            removed++;
    }
    return removed;
}

} // namespace tna::bench
