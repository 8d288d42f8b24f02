// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/rules.hpp"

#include "base/file.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <fmt/format.h>

namespace tna::bench {

namespace {
constexpr unsigned foreignNetwork = 0xc6120000; // 198.18.0.0/15
/// Above those that flows come from.
constexpr unsigned foreignPort = 20'000;
constexpr unsigned foreignPorts = 40'000;

std::string foreignRule(const Setup& setup, unsigned number) {
    // A firewall asks for ports as often as for addresses.
    if (filters(setup.scenario) && number % 2 == 1)
        return fmt::format("udp dport {} drop\n", foreignPort + number % foreignPorts);
    return fmt::format("{} saddr {} drop\n", usesIpv6(setup.scenario) ? "ip6" : "ip",
                       foreignSource(setup, number));
}

/// What comes back needs to be established, unless nothing is tracked.
std::string acceptance(const Setup& setup) {
    return setup.tracking == Tracking::off ? "iifname \"d0\" accept\niifname \"d1\" accept\n"
                                           : "ct state established,related accept\niifname \"d0\" accept\n";
}

Result<void> loadRulesFrom(const std::string& rules, std::vector<std::string> program) {
    const auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    program.push_back(folder->path() + "/rules.nft");
    if (auto written = writeFile(program.back(), rules); !written)
        return written;
    return runProgram(program);
}
} // namespace

std::string foreignSource(const Setup& setup, unsigned number) {
    if (usesIpv6(setup.scenario))
        return fmt::format("fd00:ffff::{:x}:{:x}", number >> 16U, number & 0xffffU);
    const auto address = foreignNetwork + number;
    return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 255U, address >> 8U & 255U,
                       address & 255U);
}

std::string ruleSetOf(const Setup& setup) {
    const bool firewall = filters(setup.scenario);
    if (setup.rules == 0 && !firewall)
        return {};
    auto text =
        fmt::format("table {} tna_bench {{\n{}chain forward {{\n"
                    "type filter hook forward priority 0;{}\n",
                    routes(setup.scenario) ? "inet" : "bridge",
                    setup.ruleChanges != 0 ? "chain changes {\n}\n" : "", firewall ? " policy drop;" : "");
    for (unsigned i = 0; i < setup.rules; i++)
        text += foreignRule(setup, i);
    if (setup.ruleChanges != 0)
        text += "jump changes\n";
    text += (firewall ? acceptance(setup) : "") + "}\n";
    if (forwardsPorts(setup.scenario))
        text += fmt::format("chain before {{\ntype nat hook prerouting priority -100;\n{}}}\n",
                            usesIpv6(setup.scenario)
                                ? "ip6 daddr fd00:1::3 udp dport 9 dnat ip6 to [fd00:2::2]:2009\n"
                                : "ip daddr 10.1.0.3 udp dport 9 dnat ip to 10.2.0.2:2009\n");
    if (masquerades(setup.scenario))
        text += "chain after {\ntype nat hook postrouting priority 100;\noifname \"d1\" masquerade\n}\n";
    return text + "}\n";
}

std::string ruleChange(const Setup& setup, unsigned number) {
    return "flush chain inet tna_bench changes\nadd rule inet tna_bench changes " +
           foreignRule(setup, number % foreignPorts);
}

Result<void> loadRules(const std::string& rules) {
    return loadRulesFrom(rules, {"nft", "-f"});
}

Result<void> addRules(const std::string& name, const Setup& setup) {
    const auto rules = ruleSetOf(setup);
    return rules.empty() ? Result<void>{} : loadRulesFrom(rules, {"ip", "netns", "exec", name, "nft", "-f"});
}

} // namespace tna::bench
