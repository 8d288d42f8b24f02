// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/tenants/control_group.hpp"
#include "bench/tenants/dropping.hpp"
#include "bench/testbed/built_program.hpp"
#include "bench/testbed/last_will.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/traffic.hpp"

#include <bpf/libbpf.h>
#include <chrono>
#include <csignal>
#include <cstring>
#include <linux/if_link.h>
#include <net/if.h>
#include <optional>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto startPatience = std::chrono::seconds(30);

/// DPDK's driver for AF_XDP leaves its program on the device if it is killed, and with it all frames go
/// nowhere.
void removeProgram(const std::string& device) {
    const auto number = static_cast<int>(::if_nametoindex(device.c_str()));
    for (const auto mode : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE}) {
        __u32 program = 0;
        if (number != 0 && bpf_xdp_query_id(number, static_cast<int>(mode), &program) == 0 && program != 0)
            bpf_xdp_detach(number, mode, nullptr);
    }
}

/// Of an interface that was named, which had none.
Result<LastWill> removeProgramInTheEnd(const DropPlace& place) {
    return LastWill::leave([&]() -> Result<LastWill::Execute> {
        if (auto entered = place.device().enter(); !entered)
            return std::unexpected(entered.error());
        return [device = place.deviceName()] {
            // It is killed at the same moment, perhaps just when it begins.
            constexpr auto longEnough = std::chrono::seconds(1);
            constexpr auto aWhile = std::chrono::milliseconds(50);
            for (const auto end = Clock::now() + longEnough; Clock::now() < end;
                 std::this_thread::sleep_for(aWhile))
                removeProgram(device);
        };
    });
}

class DpdkDropping : public Dropping {
public:
    DpdkDropping(std::shared_ptr<DropPlace> place, std::string device, unsigned times, TemporaryFolder folder,
                 ControlGroup group)
        : place_(std::move(place)), device_(std::move(device)), times_(times), folder_(std::move(folder)),
          group_(std::move(group)) {}
    ~DpdkDropping() override {
        if (process_)
            process_->signal(SIGCONT);
        end();
    }

    Result<void> begin() {
        auto program = BuiltProgram::get("dpdk", "drop.c", "libdpdk", "gcc pkg-config dpdk-dev libdpdk-dev");
        if (!program)
            return std::unexpected(program.error());
        program_ = *program;
        if (auto written = writeFile(counts(), std::string(16, '\0')); !written)
            return written;
        if (place_->cabled() && !place_->deviceName().empty()) {
            auto will = removeProgramInTheEnd(*place_);
            if (!will)
                return std::unexpected(will.error());
            will_.emplace(std::move(*will));
        }
        // The device's own driver hands over where frames are offered, as if it were part of the device: on
        // one processor with a program that never sleeps, each would wait for the other's turn to end.
        if (auto begun = launch(); !begun)
            return begun;
        pause();
        return {};
    }

    Result<Dropped> dropped() override {
        const auto text = readFile(counts());
        Dropped found{0, secondsNow()};
        if (!text || text->size() < sizeof(found.frames))
            return fail("its counters are gone");
        std::memcpy(&found.frames, text->data(), sizeof(found.frames));
        return found;
    }
    /// It stands still while others have their turn, or leaves them the interface.
    Result<void> resume() override {
        if (!process_)
            return launch();
        process_->signal(SIGCONT);
        return process_->running() ? Result<void>{} : fail("it ended: {}", lastLine(log()));
    }
    void pause() override {
        if (place_->cabled())
            end();
        else
            process_->signal(SIGSTOP);
    }

private:
    [[nodiscard]] std::string counts() const { return folder_.path() + "/counts"; }
    [[nodiscard]] std::string log() const { return folder_.path() + "/log"; }

    void end() {
        if (process_)
            process_->endByInput();
        process_.reset();
        if (!place_->cabled())
            return;
        if (const auto inside = NamespaceScope::enter(place_->device()))
            removeProgram(place_->deviceName());
    }

    Result<void> launch() {
        const auto inside = NamespaceScope::enter(place_->device());
        if (!inside)
            return std::unexpected(inside.error());
        std::vector<std::string> words{program_->file(),
                                       "--lcores",
                                       fmt::format("0@{},1@0", lastCpu()),
                                       "--main-lcore",
                                       "0",
                                       "--no-shconf",
                                       "--no-telemetry",
                                       "--file-prefix",
                                       folder_.path().substr(folder_.path().rfind('/') + 1)};
        std::istringstream device{device_};
        for (std::string word; device >> word;)
            words.push_back(word);
        words.insert(words.end(), {"--", std::to_string(times_), counts()});
        auto started = Process::start(group_.inside("", words), log());
        if (!started)
            return std::unexpected(started.error());
        process_.emplace(std::move(*started));
        return awaitReady();
    }
    Result<void> awaitReady() {
        const auto deadline = Clock::now() + startPatience;
        while (lastLine(log()) != "ready") {
            if (!process_->running())
                return fail("it does not run here: {}", lastLine(log()));
            if (Clock::now() > deadline)
                return fail("it is not ready in {} s: {}", startPatience.count(), lastLine(log()));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return {};
    }

    std::shared_ptr<DropPlace> place_;
    std::string device_; ///< words by which DPDK finds it
    unsigned times_;
    std::shared_ptr<BuiltProgram> program_;
    TemporaryFolder folder_;
    ControlGroup group_;
    std::optional<LastWill> will_;
    std::optional<Process> process_;
};
} // namespace

Result<std::unique_ptr<Dropping>> makeDpdkDropping(std::string_view name, unsigned times,
                                                   std::shared_ptr<DropPlace> place, const std::string& pmd) {
    constexpr std::uint64_t bytes = 1U << 30U;
    static unsigned number = 0;
    if (name == "dpdk-pmd" && pmd.empty())
        return fail("--pmd does not name the device of DPDK's own driver");
    auto device = name == "dpdk-pmd"
                      ? pmd
                      : fmt::format("--no-pci --no-huge -m 128 --vdev=net_{}0,iface={}",
                                    name == "dpdk-packet" ? "af_packet" : "af_xdp", place->deviceName());
    auto folder = TemporaryFolder::make();
    auto group = ControlGroup::make(fmt::format("subject{}", number++), {.bytes = bytes, .processes = 64});
    if (!folder || !group)
        return std::unexpected(folder ? group.error() : folder.error());
    auto made = std::make_unique<DpdkDropping>(std::move(place), std::move(device), times, std::move(*folder),
                                               std::move(*group));
    if (auto begun = made->begin(); !begun)
        return std::unexpected(begun.error());
    return made;
}

} // namespace tna::bench
