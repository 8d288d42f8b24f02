// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "cli/checks.hpp"
#include "cli/needs.hpp"
#include "config/config.hpp"
#include "diff/commands.hpp"
#include "diff/find.hpp"
#include "diff/interruption.hpp"
#include "diff/random/random_case.hpp"
#include "diff/report.hpp"

#include <charconv>
#include <cstdio>
#include <memory>

namespace tna::diff {

namespace {
struct WantedCases {
    std::string seeds = "1..10";
    std::size_t packets = 10000;
    std::string kind = "any";
    std::string folder = ".";
    std::size_t patience = 120;
    bool json = false;
    bool keepGoing = false;
    Options options;
};

constexpr std::uint64_t lastSeed = 1'000'000'000'000'000;

const std::map<std::string, Kind> kinds = {{"any", Kind::any},
                                           {"bridge", Kind::bridge},
                                           {"vlan", Kind::vlan},
                                           {"router", Kind::router},
                                           {"routed-bridge", Kind::routedBridge},
                                           {"vlan-router", Kind::vlanRouter},
                                           {"vrf", Kind::vrf},
                                           {"tables", Kind::tables},
                                           {"route-options", Kind::routeOptions},
                                           {"qdisc", Kind::qdisc},
                                           {"sysctl", Kind::sysctl},
                                           {"links", Kind::links},
                                           {"firewall", Kind::firewall},
                                           {"nat", Kind::nat},
                                           {"bridged-firewall", Kind::bridgedFirewall},
                                           {"bridge-rules", Kind::bridgeRules},
                                           {"containers", Kind::containers}};

Result<std::pair<std::uint64_t, std::uint64_t>> range(const std::string& words) {
    const auto dots = words.find("..");
    const auto number = [](const std::string& text) -> std::optional<std::uint64_t> {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
    };
    const auto first = number(words.substr(0, dots));
    const auto last = dots == std::string::npos ? first : number(words.substr(dots + 2));
    if (!first || !last || *first > *last || *last > lastSeed)
        return std::unexpected(fail("--seeds wants A..B, or a number, up to {}, not '{}'", lastSeed, words)
                                   .error()
                                   .withCode(ExitCode::usage));
    return std::pair{*first, *last};
}

int random(const WantedCases& wanted) {
    const auto seeds = range(wanted.seeds);
    if (!seeds)
        return giveUp(seeds.error());
    if (const auto can = cli::canMakeWorlds("tna-diff"); !can)
        return giveUp(can.error());
    awaitInterruption();
    const auto stage = Stage::make();
    if (!stage)
        return giveUp(stage.error());
    Totals totals;
    for (auto seed = seeds->first; seed <= seeds->second && !interrupted(); seed++) {
        const auto what = randomCase(seed, wanted.packets, kinds.at(wanted.kind));
        const auto outcome = stage->play(what, wanted.options);
        if (!outcome && interrupted())
            break;
        if (!outcome)
            return giveUp(outcome.error());
        totals.add(what, *outcome);
        if (!wanted.json)
            fmt::print(stderr, "seed {}: {} of {} packets fast{}\n", seed, outcome->figures.fast,
                       outcome->packets,
                       !outcome->impossible.empty() ? ", not to be had here: " + outcome->impossible : "");
        if (!outcome->difference)
            continue;
        const auto folder = fmt::format("{}/difference-{}-{}", wanted.folder, wanted.kind, seed);
        const auto found =
            isolate(*stage, what, *outcome, wanted.options, folder, std::chrono::seconds(wanted.patience));
        if (!found)
            return giveUp(found.error());
        fmt::print(stderr, "seed {}: {}", seed, printableLines(*found));
        if (!wanted.keepGoing)
            break;
    }
    fmt::print("{}", wanted.json ? totals.json() + "\n" : totals.text());
    if (interrupted())
        return giveUp({"interrupted", {}, "these are the figures until then"});
    if (totals.configurations == 0)
        return giveUp({"nothing was compared", "this machine has none of these configurations",
                       "the lines above say what is missing", ExitCode::notSupported});
    return totals.differences == 0 ? 0 : 1;
}
} // namespace

void addRandom(CLI::App& app, int& exitCode) {
    auto* command = app.add_subcommand("random", "random configurations, changes and packets");
    const auto wanted = std::make_shared<WantedCases>();
    command->add_option("--seeds", wanted->seeds, "which: A..B, or one; each is a configuration")
        ->capture_default_str();
    command->add_option("--packets", wanted->packets, "for each configuration")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 10'000'000));
    command
        ->add_option("--kind", wanted->kind,
                     "any, bridge, vlan, router, routed-bridge, vlan-router, vrf, "
                     "tables, route-options, qdisc, sysctl, links, firewall, nat, bridged-firewall, "
                     "bridge-rules, containers")
        ->capture_default_str()
        ->check(CLI::IsMember(kinds));
    command->add_option("--fdb", wanted->options.fdb, "how stations are found, as in tnad.conf(5)")
        ->capture_default_str()
        ->check(CLI::IsMember(config::fdbWays()));
    command->add_option("--hook", wanted->options.hook, "where ports are accelerated: xdp, tcx")
        ->capture_default_str()
        ->check(CLI::IsMember({"xdp", "tcx"}));
    command->add_option("--folder", wanted->folder, "where folders for differences are made")
        ->capture_default_str();
    command->add_option("--patience", wanted->patience, "seconds for making a difference smaller")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, static_cast<std::uint64_t>(cli::longestTime)));
    command->add_flag("--keep-going", wanted->keepGoing, "do not end with the first difference");
    command->add_flag("--json", wanted->json, "figures for programs");
    command->callback([wanted, &exitCode] { exitCode = random(*wanted); });
}

} // namespace tna::diff
