// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/printable.hpp"
#include "cli/checks.hpp"
#include "cli/needs.hpp"
#include "config/config.hpp"
#include "diff/commands.hpp"
#include "diff/find.hpp"
#include "diff/interruption.hpp"
#include "diff/pcapng.hpp"
#include "diff/report.hpp"

#include <filesystem>
#include <memory>

namespace tna::diff {

namespace {
struct WantedRun {
    std::string script;
    std::string packets;
    std::string port = "p0";
    std::string folder = "difference";
    std::size_t patience = 120;
    bool json = false;
    Options options;
};

Result<Case> read(const WantedRun& wanted) {
    if (std::filesystem::is_directory(wanted.script))
        return load(wanted.script);
    const auto script = readScript(wanted.script);
    if (!script)
        return std::unexpected(script.error());
    const auto ports = portsOf(*script);
    if (!ports)
        return std::unexpected(ports.error());
    std::vector<Packet> packets;
    if (!wanted.packets.empty()) {
        const auto file = readNamedFile(wanted.packets, largestPackets);
        auto read = file ? packetsOf(*file, *ports, wanted.port) : std::unexpected(file.error());
        if (!read)
            return std::unexpected(Error{wanted.packets, read.error().sentence(), read.error().hint,
                                         file ? ExitCode::usage : read.error().code});
        packets = std::move(*read);
    }
    return caseOf(*script, packets);
}

Result<int> run(const WantedRun& wanted) {
    const auto what = read(wanted);
    if (!what)
        return std::unexpected(what.error());
    if (const auto can = cli::canMakeWorlds("tna-diff"); !can)
        return std::unexpected(can.error());
    awaitInterruption();
    const auto stage = Stage::make();
    if (!stage)
        return std::unexpected(stage.error());
    const auto outcome = stage->play(*what, wanted.options);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (!outcome->impossible.empty())
        return std::unexpected(
            Error{"this cannot be had here", outcome->impossible, {}, ExitCode::notSupported});
    Totals totals;
    totals.add(*what, *outcome);
    fmt::print("{}", wanted.json ? totals.json() + "\n" : totals.text());
    if (!outcome->difference)
        return 0;
    const bool again = std::filesystem::is_directory(wanted.script);
    const auto found = again ? Result<std::string>(text(*outcome->difference))
                             : isolate(*stage, *what, *outcome, wanted.options, wanted.folder,
                                       std::chrono::seconds(wanted.patience));
    if (!found)
        return std::unexpected(found.error());
    fmt::print(stderr, "{}", printableLines(*found));
    return 1;
}
} // namespace

void addRun(CLI::App& app, int& exitCode) {
    auto* command =
        app.add_subcommand("run", "a configuration and packets of your own, or a difference again");
    const auto wanted = std::make_shared<WantedRun>();
    command->add_option("SCRIPT", wanted->script, "commands, line by line; or the folder of a difference")
        ->required();
    command->add_option("--packets", wanted->packets,
                        "pcap or pcapng file; interfaces are ports by their names");
    command->add_option("--port", wanted->port, "where the frames of a pcap file arrive")
        ->capture_default_str();
    command->add_option("--fdb", wanted->options.fdb, "how stations are found, as in tnad.conf(5)")
        ->capture_default_str()
        ->check(CLI::IsMember(config::fdbWays()));
    command->add_option("--hook", wanted->options.hook, "where ports are accelerated: xdp, tcx")
        ->capture_default_str()
        ->check(CLI::IsMember({"xdp", "tcx"}));
    command->add_option("--folder", wanted->folder, "for a difference")->capture_default_str();
    command->add_option("--patience", wanted->patience, "seconds for making a difference smaller")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, static_cast<std::uint64_t>(cli::longestTime)));
    command->add_flag("--json", wanted->json, "figures for programs");
    command->callback([wanted, &exitCode] {
        const auto done = run(*wanted);
        exitCode = done ? *done : giveUp(done.error());
    });
}

} // namespace tna::diff
