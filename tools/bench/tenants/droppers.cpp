// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/contenders/external.hpp"
#include "bench/tenants/control_group.hpp"
#include "bench/tenants/driver_thread.hpp"
#include "bench/tenants/offer.hpp"
#include "bench/tenants/subject.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/traffic.hpp"

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <thread>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto warmUp = std::chrono::milliseconds(50);
constexpr auto startPatience = std::chrono::seconds(30);

/// What all have in common: somebody counts what was dropped.
class Dropper : public Subject {
public:
    explicit Dropper(std::unique_ptr<DropPlace> place) : place_(std::move(place)) {}
    Result<Reading> measure(unsigned frameSize, double seconds) final {
        if (auto resumed = resume(); !resumed)
            return std::unexpected(resumed.error());
        auto reading = read(frameSize, seconds);
        pause();
        return reading;
    }

protected:
    [[nodiscard]] virtual Result<std::uint64_t> dropped() const = 0;
    [[nodiscard]] virtual Result<void> resume() { return {}; }
    virtual void pause() {}
    [[nodiscard]] const DropPlace& place() const { return *place_; }

private:
    Result<Reading> read(unsigned frameSize, double seconds) {
        Offer offer{*place_, frameSize};
        std::this_thread::sleep_for(warmUp);
        const auto start = Clock::now();
        const auto offeredBefore = place_->offered();
        const auto before = dropped();
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        Reading reading;
        reading.offered = place_->offered() - offeredBefore;
        const auto after = dropped();
        reading.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (auto stopped = offer.stop(); !stopped)
            return std::unexpected(stopped.error());
        if (!before || !after)
            return std::unexpected(before ? after.error() : before.error());
        reading.handled = *after - *before;
        return reading;
    }
    std::unique_ptr<DropPlace> place_;
};

/// Interfaces of this machine are used as they are.
Result<void> prepareDriver(const DropPlace& place) {
    return place.cabled() ? Result<void>{} : giveDriverItsThread(place.device(), place.deviceName());
}

class XdpDropper : public Dropper {
public:
    using Dropper::Dropper;
    Result<void> begin() { return prepareDriver(place()); }

protected:
    Result<std::uint64_t> dropped() const override { return place().dropped(); }
    Result<void> resume() override {
        const auto inside = NamespaceScope::enter(place().device());
        if (!inside)
            return std::unexpected(inside.error());
        auto link = attachXdp(place().workProgram(), place().deviceName());
        if (!link)
            return std::unexpected(link.error());
        link_ = std::move(*link);
        return {};
    }
    void pause() override { link_.reset(); }

private:
    UniqueFd link_;
};

/// The number under a name in a file of /proc/net whose lines are pairs of names and numbers.
Result<std::uint64_t> counterOf(const std::string& text, const std::string& table, const std::string& name) {
    std::istringstream lines{text};
    std::string names, numbers;
    while (std::getline(lines, names) && std::getline(lines, numbers)) {
        std::istringstream left{names}, right{numbers};
        std::string word, number;
        left >> word;
        right >> number;
        if (word != table + ":")
            continue;
        while (left >> word && right >> number)
            if (word == name) {
                std::uint64_t value = 0;
                std::from_chars(number.data(), number.data() + number.size(), value);
                return value;
            }
    }
    return fail("the kernel does not count {}", name);
}

/// Linux itself looks at the checksum before anything else of a packet.
class LinuxDropper : public Dropper {
public:
    using Dropper::Dropper;
    Result<void> begin() { return prepareDriver(place()); }

protected:
    Result<std::uint64_t> dropped() const override {
        const auto inside = NamespaceScope::enter(place().device());
        if (!inside)
            return std::unexpected(inside.error());
        const auto text = readFile("/proc/thread-self/net/netstat");
        if (!text)
            return std::unexpected(text.error());
        return counterOf(*text, "IpExt", "InCsumErrors");
    }
};

std::string findSource() {
    const auto own = ownFolder();
    for (const auto& candidate : {own / "dpdk/drop.c", own.parent_path() / "libexec/tna/bench-dpdk/drop.c"})
        if (::access(candidate.c_str(), R_OK) == 0)
            return candidate;
    return {};
}

/// The program of DPDK, built in a folder of its own; all who need it share it.
class BuiltProgram {
public:
    static Result<std::shared_ptr<BuiltProgram>> get() {
        static std::weak_ptr<BuiltProgram> known;
        if (auto built = known.lock())
            return built;
        auto folder = TemporaryFolder::make();
        if (!folder)
            return std::unexpected(folder.error());
        auto made = std::make_shared<BuiltProgram>(std::move(*folder));
        if (auto built = made->build(); !built)
            return std::unexpected(built.error());
        known = made;
        return made;
    }
    explicit BuiltProgram(TemporaryFolder folder) : folder_(std::move(folder)) {}
    [[nodiscard]] std::string file() const { return folder_.path() + "/drop"; }

private:
    Result<void> build() {
        constexpr const char* packages = "apt-get install gcc pkg-config dpdk-dev libdpdk-dev";
        const auto source = findSource();
        if (source.empty())
            return fail("its source is missing: install tna-bench again");
        for (const char* tool : {"cc", "pkg-config"})
            if (findInPath(tool).empty())
                return std::unexpected(Error{fmt::format("'{}' is not installed", tool), {}, packages});
        // pkg-config answers with words that the shell has to take apart.
        const auto line = fmt::format("flags=$(pkg-config --cflags --libs libdpdk) && cc -O3 -o {} {} $flags",
                                      file(), source);
        if (auto built = runProgram({"sh", "-c", line}); !built)
            return std::unexpected(std::move(built.error()).withHint(packages));
        return {};
    }
    TemporaryFolder folder_;
};

class DpdkDropper : public Dropper {
public:
    DpdkDropper(std::unique_ptr<DropPlace> place, bool packet, TemporaryFolder folder, ControlGroup group)
        : Dropper(std::move(place)), packet_(packet), folder_(std::move(folder)), group_(std::move(group)) {}
    ~DpdkDropper() override {
        if (process_)
            process_->signal(SIGCONT);
        process_.reset();
    }

    Result<void> begin(unsigned times) {
        auto program = BuiltProgram::get();
        if (!program)
            return std::unexpected(program.error());
        program_ = *program;
        if (auto written = writeFile(counts(), std::string(16, '\0')); !written)
            return written;
        // The device's own driver hands over where frames are offered, as if it were part of the device: on
        // one processor with a program that never sleeps, each would wait for the other's turn to end.
        times_ = times;
        if (auto begun = launch(); !begun)
            return begun;
        pause();
        return {};
    }

protected:
    Result<std::uint64_t> dropped() const override {
        const auto text = readFile(counts());
        std::uint64_t value = 0;
        if (!text || text->size() < sizeof(value))
            return fail("its counters are gone");
        std::memcpy(&value, text->data(), sizeof(value));
        return value;
    }
    /// It stands still while others have their turn, or leaves them the interface.
    Result<void> resume() override {
        if (!process_)
            return launch();
        process_->signal(SIGCONT);
        return process_->running() ? Result<void>{} : fail("it ended: {}", lastLine(log()));
    }
    void pause() override {
        if (place().cabled())
            process_.reset();
        else
            process_->signal(SIGSTOP);
    }

private:
    [[nodiscard]] std::string counts() const { return folder_.path() + "/counts"; }
    [[nodiscard]] std::string log() const { return folder_.path() + "/log"; }

    Result<void> launch() {
        const auto inside = NamespaceScope::enter(place().device());
        if (!inside)
            return std::unexpected(inside.error());
        const unsigned last = lastCpu();
        const auto vdev = fmt::format("--vdev={}0,iface={}", packet_ ? "net_af_packet" : "net_af_xdp",
                                      place().deviceName());
        auto started = Process::start(
            group_.inside("", {program_->file(), "--lcores", fmt::format("0@{},1@0", last), "--main-lcore",
                               "0", "--no-shconf", "--no-telemetry", "--no-pci", "--no-huge", "-m", "128",
                               "--file-prefix", folder_.path().substr(folder_.path().rfind('/') + 1), vdev,
                               "--", std::to_string(times_), counts()}),
            log());
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

    bool packet_;
    unsigned times_ = 1;
    std::shared_ptr<BuiltProgram> program_;
    TemporaryFolder folder_;
    ControlGroup group_;
    std::optional<Process> process_;
};

template <typename Kind, typename... Args>
Result<std::unique_ptr<Subject>> begun(std::unique_ptr<Kind> subject, Args... args) {
    if (auto done = subject->begin(args...); !done)
        return std::unexpected(done.error());
    return subject;
}

Result<std::unique_ptr<Subject>> makeDpdkDropper(std::unique_ptr<DropPlace> place, bool packet,
                                                 unsigned times) {
    constexpr std::uint64_t bytes = 512U << 20U;
    static unsigned number = 0;
    auto folder = TemporaryFolder::make();
    auto group = ControlGroup::make(fmt::format("subject{}", number++), {.bytes = bytes, .processes = 64});
    if (!folder || !group)
        return std::unexpected(folder ? group.error() : folder.error());
    return begun(
        std::make_unique<DpdkDropper>(std::move(place), packet, std::move(*folder), std::move(*group)),
        times);
}
} // namespace

Result<std::unique_ptr<Subject>> makeDropper(std::string_view name, unsigned times, const Cabling& cabling) {
    if (name == "linux" && times != 1)
        return fail("Linux computes the checksum once");
    auto place = DropPlace::make(times, cabling);
    if (!place)
        return std::unexpected(place.error());
    if (name == "xdp")
        return begun(std::make_unique<XdpDropper>(std::move(*place)));
    if (name == "linux")
        return begun(std::make_unique<LinuxDropper>(std::move(*place)));
    return makeDpdkDropper(std::move(*place), name == "dpdk-packet", times);
}

} // namespace tna::bench
