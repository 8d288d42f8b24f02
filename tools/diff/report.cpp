// SPDX-License-Identifier: Apache-2.0
#include "diff/report.hpp"

#include "base/file.hpp"
#include "diff/pcapng.hpp"
#include "diff/script_check.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tna::diff {

namespace {
constexpr const char *scriptFile = "/script", *packetsFile = "/packets.pcapng", *linuxFile = "/linux.pcapng",
                     *tnaFile = "/tna.pcapng", *differenceFile = "/difference.txt";

std::vector<Packet> packetsIn(const Case& what) {
    std::vector<Packet> packets;
    for (const auto& step : what.steps)
        if (const auto* packet = std::get_if<Packet>(&step))
            packets.push_back(*packet);
    return packets;
}
} // namespace

void Totals::add(const Case& what, const Outcome& outcome) {
    if (!outcome.impossible.empty()) {
        impossible++;
        return;
    }
    configurations++;
    commands += static_cast<std::uint64_t>(std::ranges::count_if(
        what.steps, [](const Step& step) { return !std::holds_alternative<Packet>(step); }));
    packets += outcome.packets;
    out += outcome.out;
    reordered += outcome.reordered;
    differences += outcome.difference ? 1 : 0;
    figures += outcome.figures;
}

std::string Totals::text() const {
    const auto all = figures.fast + figures.slow;
    std::string lines =
        fmt::format("{} configurations ({} not to be had here), {} commands\n"
                    "{} packets into each world, {} came out; {} by the fast path ({:.1f}% of those it saw)\n"
                    "{} differences ({} times the order between flows)\n",
                    configurations, impossible, commands, packets, out, figures.fast,
                    all == 0 ? 0.0 : 100.0 * static_cast<double>(figures.fast) / static_cast<double>(all),
                    differences, reordered);
    std::vector<std::pair<std::uint64_t, std::string>> reasons;
    for (const auto& [reason, count] : figures.reasons)
        reasons.emplace_back(count, reason);
    std::ranges::sort(reasons, std::greater{});
    lines += "left to Linux:";
    for (const auto& [count, reason] : reasons)
        lines += fmt::format(" {} {},", count, reason);
    lines.back() = '\n';
    return lines;
}

std::string Totals::json() const {
    return nlohmann::json{{"configurations", configurations},
                          {"impossible", impossible},
                          {"commands", commands},
                          {"packets", packets},
                          {"out", out},
                          {"fast_packets", figures.fast},
                          {"slow_packets", figures.slow},
                          {"reasons", figures.reasons},
                          {"reordered", reordered},
                          {"differences", differences}}
        .dump(2);
}

Result<void> save(const std::string& folder, const Case& what, const Outcome& outcome) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return failErrno(error.value(), "cannot make the folder {}", folder);
    auto written = writeFile(folder + scriptFile, scriptOf(what));
    for (const auto& [file, packets] :
         {std::pair{packetsFile, packetsIn(what)}, {linuxFile, outcome.plain}, {tnaFile, outcome.fast}})
        if (written)
            written = writeFile(folder + file, pcapngOf(what.ports, packets));
    if (written && outcome.difference)
        written = writeFile(folder + differenceFile, text(*outcome.difference));
    return written;
}

Result<std::string> readScript(const std::string& path) {
    constexpr std::size_t largestScript = 16U << 20U;
    constexpr std::string_view mark = "\xef\xbb\xbf"; // which some editors put before UTF-8
    auto script = readNamedFile(path, largestScript);
    if (script && script->starts_with(mark))
        script->erase(0, mark.size());
    auto checked = script ? checkScript(*script) : Result<void>{};
    if (!checked)
        return std::unexpected(Error{path + ": " + checked.error().what, checked.error().cause,
                                     checked.error().hint, checked.error().code});
    return script;
}

Result<Case> load(const std::string& folder) {
    const auto script = readScript(folder + scriptFile);
    const auto file = script ? readNamedFile(folder + packetsFile, largestPackets) : script;
    if (!file)
        return std::unexpected(file.error());
    const auto ports = portsOf(*script);
    if (!ports)
        return std::unexpected(ports.error());
    const auto packets = packetsOf(*file, *ports, {});
    if (!packets)
        return std::unexpected(packets.error());
    return caseOf(*script, *packets);
}

std::string text(const Difference& difference) {
    return fmt::format("step {}, {}:\n{}", difference.step, difference.where, difference.what);
}

} // namespace tna::diff
