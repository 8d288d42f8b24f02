// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/contender.hpp"
#include "bench/report.hpp"
#include "bench/throughput.hpp"
#include "deploy/libbpf_log.hpp"

#include <algorithm>
#include <atomic>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace tna;

std::atomic<bool> interrupted{false};

int complain(const std::string& sentence, ExitCode code) {
    fmt::print(stderr, "tna-bench: {}\n", sentence);
    return static_cast<int>(code);
}

std::string problemWith(const bench::ThroughputOptions& options) {
    for (const auto& name : options.contenders)
        if (std::ranges::count(bench::contenderNames(), name) == 0)
            return fmt::format("there is no contender '{}'; known: {}", name,
                               fmt::join(bench::contenderNames(), ", "));
    const unsigned present = std::thread::hardware_concurrency();
    for (const unsigned cpus : options.cpus)
        if (cpus == 0 || cpus > present)
            return fmt::format("{} CPUs were asked for, this machine has {}", cpus, present);
    for (const unsigned flows : options.flows)
        if (flows == 0 || flows > 256)
            return "the number of stations must be from 1 to 256";
    if (options.frameSize < 64 || options.frameSize > 1514)
        return "the frame size must be from 64 to 1514 bytes";
    if (options.rounds == 0 || options.seconds <= 0)
        return "there must be at least one round, of more than 0 seconds";
    return {};
}

/// Other work on the machine must not decide what is measured.
void takePriority() {
    ::setsid();
    (void)writeFile("/proc/self/autogroup", "-20");
    ::setpriority(PRIO_PROCESS, 0, -20);
}

void showProgress(const std::string& what, unsigned done, unsigned of) {
    if (::isatty(STDERR_FILENO) != 0)
        fmt::print(stderr, "\r\033[K[{:3}%] {}", done * 100 / of, what);
}

int throughput(const bench::ThroughputOptions& options, const std::string& jsonFile) {
    if (const auto problem = problemWith(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (::geteuid() != 0)
        return complain("makes network namespaces and loads programs: run as root", ExitCode::noPermission);
    const auto machine = bench::describeMachine();
    takePriority();
    const auto all = bench::measureThroughput(options, showProgress, [] { return interrupted.load(); });
    if (::isatty(STDERR_FILENO) != 0)
        fmt::print(stderr, "\r\033[K");
    if (!all)
        return complain(all.error().sentence(), ExitCode::failure);
    fmt::print("{} byte frames, kernel {}, {}\n{}", options.frameSize, machine["kernel"].get<std::string>(),
               machine["cpu"].get<std::string>(), bench::renderTable(*all));
    if (!jsonFile.empty())
        if (auto written = writeFile(jsonFile, bench::resultDocument(options, machine, *all).dump(1) + "\n");
            !written)
            return complain(written.error().sentence(), ExitCode::failure);
    return static_cast<int>(interrupted ? ExitCode::failure : ExitCode::ok);
}

} // namespace

int main(int argc, char** argv) {
    spdlog::set_level(spdlog::level::warn);
    deploy::captureLibbpfMessages();
    std::signal(SIGINT, [](int) { interrupted = true; });
    std::signal(SIGTERM, [](int) { interrupted = true; });
    bench::ThroughputOptions options;
    std::string jsonFile;
    bool quick = false;
    CLI::App app{"Measures forwarding: plain Linux, tna, and the ceiling, in turn on the same machine."};
    app.require_subcommand(1);
    app.set_version_flag("--version", "tna-bench " TNA_VERSION);
    auto* run =
        app.add_subcommand("throughput", "frames per second at full offer, between network namespaces");
    run->add_option("--contenders", options.contenders, "linux, linux+nf, tna, ceiling")->delimiter(',');
    run->add_option("--flows", options.flows, "numbers of station pairs")
        ->delimiter(',')
        ->capture_default_str();
    run->add_option("--cpus", options.cpus, "numbers of CPUs")->delimiter(',')->capture_default_str();
    run->add_option("--size", options.frameSize, "frame size in bytes")->capture_default_str();
    run->add_option("--rounds", options.rounds, "rounds")->capture_default_str();
    run->add_option("--duration", options.seconds, "seconds of each measurement")->capture_default_str();
    run->add_option("--json", jsonFile, "write all rounds to this file");
    run->add_flag("--quick", quick, "three short rounds on one CPU");
    auto* clean = app.add_subcommand("clean", "remove what killed runs have left");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    if (clean->parsed()) {
        fmt::print("{} namespaces removed\n", bench::removeLeftovers());
        return 0;
    }
    if (quick) {
        options.cpus = {1};
        options.rounds = 3;
        options.seconds = 0.15;
    }
    return throughput(options, jsonFile);
}
