// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/tenants.hpp"

#include "base/file.hpp"
#include "bench/contenders/external.hpp"
#include "bench/tenants/machine.hpp"

#include <algorithm>
#include <cmath>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr std::uint64_t mebibyte = 1U << 20U;
constexpr std::uint64_t bytesOfTenant = 48 * mebibyte;
constexpr unsigned fileMebibytes = 4; ///< that a tenant of a disk writes and removes again and again
constexpr auto startPatience = std::chrono::seconds(60);
constexpr const char* tenantAddress = "198.18.4.1";
constexpr const char* peerAddress = "198.18.4.2";

std::uint64_t half(std::uint64_t bytes) {
    return bytes / 2;
}

std::uint64_t memoryOfMachine() {
    return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<std::string> wordsOf(Burden burden, const std::string& folder, double seconds) {
    const auto time = fmt::format("{:.0f}", std::ceil(seconds));
    switch (burden) {
    case Burden::cpu:
        return {"stress-ng", "--quiet", "--cpu", "1", "--temp-path", folder, "--timeout", time};
    case Burden::disk:
        return {"stress-ng",   "--quiet", "--hdd",     "1", "--hdd-bytes", fmt::format("{}M", fileMebibytes),
                "--temp-path", folder,    "--timeout", time};
    default:
        // 1000 packets of 1500 bytes in a second, and as many answers.
        return {"ping", "-q", "-n", "-i", "0.001", "-s", "1472", "-w", time, peerAddress};
    }
}
} // namespace

std::string whyNoTenants(Burden burden, const std::string& kernel) {
    if (burden == Burden::cpu && !kernel.empty())
        return whyNoMachines(kernel);
    const std::string program = burden == Burden::network ? "ping" : "stress-ng";
    if (burden == Burden::none || !findInPath(program).empty())
        return {};
    return fmt::format("'{}' is not installed (apt-get install {})", program,
                       burden == Burden::network ? "iputils-ping" : "stress-ng");
}

Result<std::unique_ptr<Tenants>> Tenants::start(Burden burden, unsigned count, const std::string& folder,
                                                double seconds, const std::string& kernel) {
    const bool machines = burden == Burden::cpu && !kernel.empty();
    const auto each = machines ? (machineMebibytes + machineOverhead) * mebibyte : bytesOfTenant;
    const auto most = half(memoryOfMachine());
    if (machines && count * each > most)
        return fail("{} virtual machines need {} MiB of memory, and may have half of all, {} MiB", count,
                    count * each / mebibyte, most / mebibyte);
    const auto bytes = std::min(most, (count + 4) * each);
    auto group = ControlGroup::make("tenants", {.bytes = bytes, .processes = 8 * count + 64});
    if (!group)
        return std::unexpected(group.error());
    std::unique_ptr<Tenants> tenants{new Tenants(std::move(*group))};
    auto files = TemporaryFolder::make(folder);
    if (!files)
        return std::unexpected(files.error());
    tenants->files_.emplace(std::move(*files));
    if (auto begun = tenants->begin(burden, count, seconds, machines ? kernel : ""); !begun)
        return std::unexpected(begun.error());
    return tenants;
}

Result<void> Tenants::joinNamespaces() {
    for (const char* role : {"t", "q"}) {
        auto made = OwnNamespace::make(role);
        if (!made)
            return std::unexpected(made.error());
        namespaces_.push_back(std::move(*made));
    }
    const auto &t = namespaces_[0].name(), &q = namespaces_[1].name();
    for (const auto& words :
         {fmt::format("ip -n {} link add t0 type veth peer name q0 netns {}", t, q),
          fmt::format("ip -n {} address add {}/30 dev t0", t, tenantAddress),
          fmt::format("ip -n {} address add {}/30 dev q0", q, peerAddress),
          fmt::format("ip -n {} link set t0 up", t), fmt::format("ip -n {} link set q0 up", q)})
        if (auto done = runCommand(words); !done)
            return done;
    return {};
}

Result<void> Tenants::begin(Burden burden, unsigned count, double seconds, const std::string& kernel) {
    std::optional<NamespaceScope> scope;
    if (burden == Burden::network) {
        if (auto joined = joinNamespaces(); !joined)
            return joined;
        auto entered = NamespaceScope::enter(namespaces_[0].handle());
        if (!entered)
            return std::unexpected(entered.error());
        scope.emplace(std::move(*entered));
    }
    if (!kernel.empty())
        if (auto written = writeGuest(files_->path()); !written)
            return written;
    for (unsigned tenant = 0; tenant < count; tenant++) {
        const auto name = fmt::format("t{}", tenant);
        const auto folder = fmt::format("{}/{}", files_->path(), name);
        if (::mkdir(folder.c_str(), 0700) != 0)
            return failErrno(errno, "cannot make {}", folder);
        if (auto made = group_.makeInner(name); !made)
            return made;
        auto words = wordsOf(burden, folder, seconds);
        if (!kernel.empty()) {
            words = machineWords(kernel, files_->path());
            words.insert(words.begin(),
                         {"timeout", "--signal=KILL", fmt::format("{:.0f}", std::ceil(seconds))});
        }
        // All of a tenant ends with the process that is ours, however that ends.
        words.insert(words.begin(), {"unshare", "--pid", "--kill-child"});
        auto process =
            Process::start(group_.inside(name, words), fmt::format("{}/log{}", files_->path(), tenant));
        if (!process)
            return std::unexpected(process.error());
        processes_.push_back(std::move(*process));
    }
    // unshare waits; stress-ng and timeout have a process that works, and one that waits, too.
    const std::size_t each = burden == Burden::network ? 2 : 3;
    const auto deadline = std::chrono::steady_clock::now() + startPatience;
    while (group_.processes().size() < each * count) {
        if (running() < count)
            return fail("tenants do not start: {}", lastLine(files_->path() + "/log0"));
        if (std::chrono::steady_clock::now() > deadline)
            return fail("only {} of {} processes of tenants started in {} s", group_.processes().size(),
                        each * count, startPatience.count());
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
}

unsigned Tenants::running() {
    return static_cast<unsigned>(
        std::ranges::count_if(processes_, [](Process& process) { return process.running(); }));
}

} // namespace tna::bench
