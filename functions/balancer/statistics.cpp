// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tna::balancer {

std::string inWords(const Statistics& statistics, const Balancer& balancer, const tna_function_counts& counts,
                    std::uint32_t now) {
    const auto& sessions = balancer.affinity().sessions();
    auto text =
        fmt::format("received {}, sessions {} of {}, evicted {}, moved {}\n", statistics.received,
                    sessions.size(), sessions.most(), sessions.evicted(), balancer.affinity().moved());
    if (counts.lost + counts.invalid != 0)
        text += fmt::format("lost before {}, invalid {}\n", counts.lost, counts.invalid);
    for (std::size_t i = 0; i < outcomeWords.size(); i++)
        if (statistics.outcomes[i] != 0)
            text += fmt::format("  {} {}: {}\n", statistics.outcomes[i], outcomeWords[i].name,
                                outcomeWords[i].sentence);
    const auto lasting = balancer.affinity().countByBackend(now);
    for (std::size_t i = 0; i < lasting.size(); i++) {
        const auto& service = balancer.services()[i];
        text += fmt::format("{}:\n", service.settings.name);
        for (std::size_t j = 0; j < service.backends.size(); j++) {
            const auto& backend = service.backends[j];
            text += fmt::format("  {} {}, weight {}: sessions {} (chosen {}), packets {} to it, {} from it\n",
                                balancer::text(backend.settings.endpoint), backend.up ? "up" : "down",
                                backend.settings.weight, lasting[i][j], backend.chosen, backend.packets,
                                backend.replies);
        }
    }
    return text;
}

namespace {
nlohmann::json backendsOf(const Service& service, const std::vector<std::uint64_t>& sessions) {
    auto all = nlohmann::json::array();
    for (std::size_t i = 0; i < sessions.size(); i++) {
        const auto& backend = service.backends[i];
        all.push_back({{"endpoint", balancer::text(backend.settings.endpoint)},
                       {"up", backend.up},
                       {"weight", backend.settings.weight},
                       {"sessions", sessions[i]},
                       {"chosen", backend.chosen},
                       {"packets", backend.packets},
                       {"bytes", backend.bytes},
                       {"replies", backend.replies},
                       {"reply_bytes", backend.replyBytes}});
    }
    return all;
}
} // namespace

std::string asJson(const Statistics& statistics, const Balancer& balancer, const tna_function_counts& counts,
                   std::uint32_t now) {
    auto outcomes = nlohmann::json::object();
    for (std::size_t i = 0; i < outcomeWords.size(); i++)
        outcomes[outcomeWords[i].name] = statistics.outcomes[i];
    auto services = nlohmann::json::array();
    const auto lasting = balancer.affinity().countByBackend(now);
    for (std::size_t i = 0; i < lasting.size(); i++)
        services.push_back({{"name", balancer.services()[i].settings.name},
                            {"backends", backendsOf(balancer.services()[i], lasting[i])}});
    const auto& sessions = balancer.affinity().sessions();
    const nlohmann::json document{{"received", statistics.received},
                                  {"outcomes", outcomes},
                                  {"lost", counts.lost},
                                  {"invalid", counts.invalid},
                                  {"sessions",
                                   {{"now", sessions.size()},
                                    {"most", sessions.most()},
                                    {"evicted", sessions.evicted()},
                                    {"moved", balancer.affinity().moved()}}},
                                  {"services", services}};
    return document.dump() + "\n";
}

} // namespace tna::balancer
