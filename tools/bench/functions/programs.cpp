// SPDX-License-Identifier: Apache-2.0
// Programs that have AF_XDP sockets of their own: one of this benchmark, written with libxdp, and DPDK's.
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"
#include "bench/functions/program.hpp"
#include "bench/testbed/built_program.hpp"
#include "bench/testbed/sysfs.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/traffic/traffic.hpp"

namespace tna::bench {

namespace {
class Program : public Contestant {
public:
    Program(TemporaryFolder folder, ProgramUnderTest process, std::shared_ptr<BuiltProgram> built = nullptr)
        : built_(std::move(built)), folder_(std::move(folder)), process_(std::move(process)) {}
    static std::string counts(const TemporaryFolder& folder) { return folder.path() + "/counts"; }
    static std::string errors(const TemporaryFolder& folder) { return folder.path() + "/errors"; }
    Result<Counted> dropped() override { return countedIn(counts(folder_), 0); }
    std::string complaint() override { return lastLine(errors(folder_)); }
    bool ended() override { return !process_.running(); }

private:
    std::shared_ptr<BuiltProgram> built_;
    TemporaryFolder folder_;
    ProgramUnderTest process_;
};

Result<TemporaryFolder> folderWithCounts() {
    auto folder = TemporaryFolder::make();
    if (folder)
        if (auto written = writeFile(Program::counts(*folder), std::string(sizeof(std::uint64_t), '\0'));
            !written)
            return std::unexpected(written.error());
    return folder;
}

/// Who has the driver work by system calls has it defer its interrupts, as in the paper.
Result<void> deferInterrupts(const DropPlace& place) {
    return withSysfsOf(place.device(), [&]() -> Result<void> {
        const auto folder = "/sys/class/net/" + place.deviceName() + "/";
        if (auto set = writeFile(folder + "napi_defer_hard_irqs", "2"); !set)
            return set;
        return writeFile(folder + "gro_flush_timeout", "200000");
    });
}
} // namespace

Started startByHand(const Contest& contest, const std::string& mode) {
    auto built =
        BuiltProgram::get("libxdp", "macswap.c", "libxdp libbpf", "gcc pkg-config libxdp-dev libbpf-dev");
    if (!built)
        return std::unexpected(built.error());
    auto folder = folderWithCounts();
    if (!folder)
        return std::unexpected(folder.error());
    const auto& place = contest.side.place();
    if (mode == "sysc")
        if (auto deferred = deferInterrupts(place); !deferred)
            return std::unexpected(deferred.error());
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    auto process = ProgramUnderTest::start(contest.side,
                                           {(*built)->file(), place.deviceName(), mode,
                                            contest.one.which == Class::dropped ? "drop" : "send",
                                            std::to_string(frameMemory), Program::counts(*folder)},
                                           Program::errors(*folder));
    if (!process)
        return std::unexpected(process.error());
    return std::make_unique<Program>(std::move(*folder), std::move(*process), std::move(*built));
}

Started startTestpmd(const Contest& contest) {
    auto folder = folderWithCounts();
    if (!folder)
        return std::unexpected(folder.error());
    const auto& place = contest.side.place();
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    const auto name = folder->path().substr(folder->path().rfind('/') + 1);
    auto process = ProgramUnderTest::start(contest.side,
                                           {"dpdk-testpmd",
                                            "--lcores",
                                            fmt::format("0@{},1@{}", lastCpu(), contest.side.userCpu()),
                                            "--main-lcore",
                                            "0",
                                            "--no-pci",
                                            "--no-huge",
                                            "-m",
                                            "128",
                                            "--no-shconf",
                                            "--no-telemetry",
                                            "--file-prefix",
                                            name,
                                            fmt::format("--vdev=net_af_xdp0,iface={}", place.deviceName()),
                                            "--",
                                            "--forward-mode=macswap",
                                            "--nb-cores=1",
                                            "--burst=64",
                                            "--rxd=2048",
                                            "--txd=2048",
                                            "--total-num-mbufs=16384"},
                                           Program::errors(*folder));
    if (!process)
        return std::unexpected(Error{"cannot run dpdk-testpmd", process.error().sentence(),
                                     "apt-get install dpdk-dev librte-net-af-xdp23"});
    return std::make_unique<Program>(std::move(*folder), std::move(*process));
}

} // namespace tna::bench
