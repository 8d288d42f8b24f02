// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <nlohmann/json.hpp>

namespace tna::nat64 {

std::string inWords(const Statistics& statistics, const Sessions* sessions,
                    const tna_function_counts& counts) {
    auto text = fmt::format("received {}, to IPv4 {}, to IPv6 {}, answered {}, dropped {}, given back {}\n",
                            statistics.received, statistics.to4, statistics.to6, statistics.answered,
                            statistics.dropped, statistics.givenBack);
    if (statistics.fragmentsMade != 0)
        text += fmt::format("fragments made {}\n", statistics.fragmentsMade);
    if (counts.lost + counts.invalid != 0)
        text += fmt::format("lost before {}, invalid {}\n", counts.lost, counts.invalid);
    if (sessions != nullptr)
        text += fmt::format("sessions {} of {}, bindings {}, ports in use {} of {}\n", sessions->sessions(),
                            sessions->most(), sessions->bindings(), sessions->pool().taken(),
                            sessions->pool().size());
    for (std::size_t i = 0; i < reasonCount; i++)
        if (statistics.reasons[i] != 0)
            text += fmt::format("  {} {}: {}\n", statistics.reasons[i], reasonWords[i], reasonSentences[i]);
    return text;
}

std::string asJson(const Statistics& statistics, const Sessions* sessions,
                   const tna_function_counts& counts) {
    auto reasons = nlohmann::json::object();
    for (std::size_t i = 0; i < reasonCount; i++)
        reasons[std::string(reasonWords[i])] = statistics.reasons[i];
    nlohmann::json document{{"received", statistics.received},
                            {"to_ipv4", statistics.to4},
                            {"to_ipv6", statistics.to6},
                            {"answered", statistics.answered},
                            {"dropped", statistics.dropped},
                            {"given_back", statistics.givenBack},
                            {"fragments_made", statistics.fragmentsMade},
                            {"lost", counts.lost},
                            {"invalid", counts.invalid},
                            {"reasons", reasons}};
    if (sessions != nullptr)
        document["sessions"] = {{"now", sessions->sessions()},
                                {"most", sessions->most()},
                                {"bindings", sessions->bindings()},
                                {"ports_in_use", sessions->pool().taken()},
                                {"ports", sessions->pool().size()}};
    return document.dump() + "\n";
}

} // namespace tna::nat64
