// SPDX-License-Identifier: Apache-2.0
#include "diff/random/translations.hpp"

#include "diff/random/talk.hpp"

#include <fmt/format.h>

namespace tna::diff {

std::vector<std::string> translationRules(const Topology& topology, InvalidDropped dropped) {
    std::vector<std::string> lines;
    for (const bool six : {false, true}) {
        const std::string table = six ? "ip6 nat" : "ip nat", ip = six ? "ip6" : "ip";
        lines.push_back("add table " + table);
        lines.push_back(
            fmt::format("add chain {} before {{ type nat hook prerouting priority -100; }}", table));
        lines.push_back(
            fmt::format("add chain {} after {{ type nat hook postrouting priority 100; }}", table));
        lines.push_back(
            fmt::format("add chain {} early {{ type filter hook prerouting priority -150; }}", table));
        lines.push_back(fmt::format("add rule {} early {} daddr {} ct state new drop", table, ip,
                                    six ? "2001:db8:71::/64" : "203.0.113.0/24"));
        lines.push_back(fmt::format(
            "add rule {} early meta l4proto {{ tcp, udp }} th sport {{ {}, {} }} ct state new drop", table,
            realPort(redirectedPort), realPort(bothPort)));
        // Else nothing that is translated is fast but UDP, or TCP where nothing is invalid.
        if (dropped == InvalidDropped::early)
            lines.push_back(fmt::format("add rule {} early ct state invalid drop", table));
        if (dropped == InvalidDropped::whereverItGoes)
            for (const char* hook : {"input", "forward"})
                for (const char* line :
                     {"add chain {0} late{1} {{ type filter hook {1} priority -5; }}",
                      "add rule {0} late{1} iif lo accept", "add rule {0} late{1} ct state invalid drop"})
                    lines.push_back(fmt::format(fmt::runtime(line), table, hook));
        for (std::size_t i = 0; i < topology.hosts.size(); i++) {
            const auto& host = topology.hosts[i];
            const auto address = six ? text6(host.ip6) : text4(host.ip4);
            for (const auto port : {redirectedPort, bothPort})
                lines.push_back(fmt::format(
                    "add rule {} before {} daddr {} meta l4proto {{ tcp, udp }} th dport {} dnat to {}",
                    table, ip, six ? text6(service6(i)) : text4(service4(i)), port,
                    six ? fmt::format("[{}]:{}", address, realPort(port))
                        : fmt::format("{}:{}", address, realPort(port))));
            lines.push_back(fmt::format("add rule {} after {} saddr {} meta l4proto {{ tcp, udp }} th "
                                        "dport {{ {}, {} }} snat to {}",
                                        table, ip, address, hiddenPort, realPort(bothPort),
                                        six ? text6(outside6(i)) : text4(outside4(i))));
        }
    }
    return lines;
}

} // namespace tna::diff
