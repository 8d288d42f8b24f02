// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/cases.hpp"

#include <algorithm>

namespace tna::bench {

namespace {
using workload::Work;

bool asksFor(const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::ranges::find(list, name) != list.end();
}

const std::vector<unsigned>& sizesOf(const FunctionsOptions& options, Work work) {
    static const std::vector<unsigned> none{0};
    switch (work) {
    case Work::checksum:
        return options.checksums;
    case Work::lookup:
        return options.lines;
    case Work::firewall:
        return options.rules;
    case Work::chain:
        return options.shares;
    default:
        return none;
    }
}

/// A firewall drops; what a chain does not drop comes back; where Linux has the frames, it is about the way
/// there and not about the work.
bool makesSense(Work work, Class which) {
    switch (which) {
    case Class::dropped:
        return work != Work::chain;
    case Class::local:
        return work == Work::macswap;
    case Class::returned:
        break;
    }
    return work != Work::firewall;
}
} // namespace

bool FunctionsOptions::measures(std::string_view rate) const {
    return std::ranges::find(rates, rate) != rates.end();
}

const std::vector<std::string>& functionWorkloads() {
    static const std::vector<std::string> names(workload::workNames().begin(),
                                                workload::workNames().begin() +
                                                    static_cast<std::ptrdiff_t>(Work::chain) + 1);
    return names;
}

std::string nameOf(Work work) {
    return workload::workNames().at(static_cast<std::size_t>(work));
}

std::vector<FunctionsCase> functionsCases(const FunctionsOptions& options) {
    std::vector<FunctionsCase> cases;
    for (const unsigned cpus : options.cpus)
        for (std::size_t i = 0; i < functionWorkloads().size(); i++)
            for (const auto which : {Class::dropped, Class::returned, Class::local}) {
                const auto work = static_cast<Work>(i);
                if (asksFor(options.workloads, nameOf(work)) && asksFor(options.classes, nameOf(which)) &&
                    makesSense(work, which))
                    for (const unsigned size : sizesOf(options, work))
                        cases.push_back({work, which, size, cpus});
            }
    return cases;
}

workload::WorkSettings settingsOf(const FunctionsCase& one) {
    workload::WorkSettings settings;
    if (one.work == Work::checksum)
        settings.times = one.size;
    if (one.work == Work::lookup || one.work == Work::firewall)
        settings.entries = one.size;
    if (one.work == Work::chain) {
        settings.entries = chainRules;
        settings.sessions = chainSessions;
    }
    return settings;
}

Sources sourcesOf(const FunctionsCase& one) {
    constexpr double percent = 100;
    if (one.work == Work::firewall)
        return {.blocked = one.size};
    if (one.work == Work::chain)
        return {.blocked = chainRules, .sessions = chainSessions, .blockedPart = one.size / percent};
    return {};
}

} // namespace tna::bench
