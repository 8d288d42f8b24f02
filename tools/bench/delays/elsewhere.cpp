// SPDX-License-Identifier: Apache-2.0
// The far end on another machine: both sides of the command that is run there.
#include "bench/delays/device_knobs.hpp"
#include "bench/delays/far_end.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <cstdio>
#include <fmt/ranges.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr auto patience = std::chrono::seconds(30);
constexpr const char* ready = "ready ";
constexpr const char* echoing = "echo";
constexpr const char* echoingUdp = "udp";
constexpr const char* anyAddress = "0.0.0.0";

class Elsewhere : public FarEnd {
public:
    Elsewhere(std::string command, std::string address, TemporaryFolder folder)
        : command_(std::move(command)), address_(std::move(address)), folder_(std::move(folder)) {}
    Result<Running> forward(Settings settings) override { return run(wordOf(settings)); }
    Result<Running> echo() override { return run(echoing); }
    Result<Running> echoUdp() override { return run(echoingUdp); }
    std::string address() const override { return address_; }
    const std::array<unsigned char, 6>& mac() const override { return mac_; }
    std::string whyMissing(Knob knob) override {
        Settings settings = usualSettings();
        settings.set(knob,
                     knob != Knob::rxCoalescing && knob != Knob::txCoalescing && knob != Knob::deepIdle);
        const auto tried = forward(settings);
        return tried ? "" : tried.error().sentence();
    }
    /// Who it is.
    Result<void> ask() {
        const auto begun = forward(usualSettings());
        return begun ? Result<void>{} : std::unexpected(begun.error());
    }

private:
    Result<Running> run(const std::string& word) {
        const auto log = folder_.path() + "/log";
        auto process = Process::start({"sh", "-c", "exec " + command_ + " " + word}, log);
        if (!process)
            return std::unexpected(process.error());
        auto running = std::make_shared<Process>(std::move(*process));
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!lastLine(log).starts_with(ready)) {
            if (!running->running())
                return fail("'{} {}' ended: {}", command_, word, lastLine(log));
            if (std::chrono::steady_clock::now() > deadline)
                return fail("'{} {}' is not ready in {} s", command_, word, patience.count());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        std::array<unsigned, 6> parts{};
        if (std::sscanf(lastLine(log).c_str(), "ready %x:%x:%x:%x:%x:%x", &parts[0], &parts[1], &parts[2],
                        &parts[3], &parts[4], &parts[5]) != 6)
            return fail("'{} {}' does not say its address", command_, word);
        for (std::size_t i = 0; i < parts.size(); i++)
            mac_.at(i) = static_cast<unsigned char>(parts.at(i));
        // Its standard input ends it, wherever it runs; a signal would only end what carries it.
        return Running{running.get(), [running](void*) { running->endByInput(); }};
    }
    std::string command_;
    std::string address_;
    TemporaryFolder folder_;
    std::array<unsigned char, 6> mac_{};
};
} // namespace

Result<std::unique_ptr<FarEnd>> makeFarEndElsewhere(const std::string& command, const std::string& address) {
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    auto made = std::make_unique<Elsewhere>(command, address, std::move(*folder));
    if (auto asked = made->ask(); !asked)
        return std::unexpected(asked.error());
    return made;
}

Result<void> serveAsFarEnd(const std::string& device, const std::string& word) {
    const bool asUsual = word == echoing || word == echoingUdp;
    const auto settings = asUsual ? usualSettings() : settingsOf(word);
    if (!settings)
        return std::unexpected(Error{fmt::format("'{}' names no settings", word), {}, {}, ExitCode::usage});
    auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    auto end = makeFarEnd(*here, device, anyAddress);
    if (!end)
        return std::unexpected(end.error());
    for (const Knob knob : {Knob::rxCoalescing, Knob::txCoalescing})
        if (const auto why = (*end)->whyMissing(knob); !settings->has(knob) && !why.empty())
            return fail("{}", why);
    IdleKnob idle;
    if (auto applied = settings->has(Knob::deepIdle) || IdleKnob::whyMissing().empty()
                           ? idle.apply(settings->has(Knob::deepIdle))
                           : fail("{}", IdleKnob::whyMissing());
        !applied)
        return applied;
    const auto running = word == echoing      ? (*end)->echo()
                         : word == echoingUdp ? (*end)->echoUdp()
                                              : (*end)->forward(*settings);
    if (!running)
        return std::unexpected(running.error());
    fmt::print("{}{:02x}\n", ready, fmt::join((*end)->mac(), ":"));
    std::fflush(stdout);
    pollfd input{STDIN_FILENO, POLLIN, 0};
    for (char end_of = 0; ::poll(&input, 1, -1) > 0 && ::read(STDIN_FILENO, &end_of, 1) > 0;) {
    }
    return {};
}

} // namespace tna::bench
