// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/study.hpp"
#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"

#include <fmt/format.h>

namespace tna::bench {

namespace {
nlohmann::json valuesDocument(const std::vector<double>& values) {
    auto document = summaryDocument(values);
    if (document.is_null())
        return document;
    const auto [mean, deviation] = meanAndDeviation(values);
    document["mean"] = mean;
    document["standard_deviation"] = deviation;
    return document;
}
} // namespace

const std::vector<std::string>& missingFromFunctions() {
    static const std::vector<std::string> all{
        "the rate at which 0.1 % is lost (RFC 2544): rates are those at full offer only",
        "DPDK testpmd with af_xdp", "busy polling by system calls: libtna-function does not set it up",
        "pictures: `tna-bench report` does not know these results",
        "checksum, lookup, firewall and chain: macswap is the only workload"};
    return all;
}

std::string renderFunctions(const FunctionsOptions& options, const std::vector<FunctionsRuns>& runs) {
    std::string text = fmt::format("frames of 64 bytes, sent back with their addresses swapped; user space "
                                   "{}; medians of {} rounds of {} s\n\n",
                                   options.cpus == 1 ? "on the processor of generator and kernel"
                                                     : "on a processor of its own",
                                   runs.empty() ? 0 : runs.front().mpps.size(), options.seconds);
    text += fmt::format("{:<8}{:>8}{:>20}{:>18}{:>9}{:>8}{:>8}{:>9}\n", "", "Mpps", "quartiles",
                        "mean +- dev.", "lost", "user", "system", "softirq");
    constexpr double percent = 100;
    for (const auto& each : runs) {
        const auto rate = summarise(each.mpps);
        const auto [mean, deviation] = meanAndDeviation(each.mpps);
        text += fmt::format(
            "{:<8}{:>8.3f}{:>20}{:>18}{:>7.1f} %{:>8.2f}{:>8.2f}{:>9.2f}\n", each.name, rate.median,
            fmt::format("{:.3f} to {:.3f}", rate.lowerQuartile, rate.upperQuartile),
            fmt::format("{:.3f} +- {:.3f}", mean, deviation), summarise(each.loss).median * percent,
            summarise(each.user).median, summarise(each.system).median, summarise(each.softirq).median);
    }
    text += '\n';
    for (const auto& each : runs)
        text += fmt::format("{}: {}\n", each.name, each.what);
    text +=
        "user, system, softirq: processors that were busy, of the whole machine, generator included\n\nnot "
        "measured:\n";
    for (const auto& missing : missingFromFunctions())
        text += "- " + missing + '\n';
    return text;
}

nlohmann::json functionsDocument(const FunctionsOptions& options, const nlohmann::json& machine,
                                 const std::vector<FunctionsRuns>& runs) {
    auto contestants = nlohmann::json::array();
    for (const auto& each : runs)
        contestants.push_back({{"name", each.name},
                               {"what", each.what},
                               {"mpps", valuesDocument(each.mpps)},
                               {"loss", valuesDocument(each.loss)},
                               {"cpu",
                                {{"user", valuesDocument(each.user)},
                                 {"system", valuesDocument(each.system)},
                                 {"softirq", valuesDocument(each.softirq)}}}});
    return {{"version", 1},          {"command", "functions"},     {"machine", machine},
            {"workload", "macswap"}, {"rounds", options.rounds},   {"seconds", options.seconds},
            {"cpus", options.cpus},  {"contestants", contestants}, {"missing", missingFromFunctions()}};
}

} // namespace tna::bench
