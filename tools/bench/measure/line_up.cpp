// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/line_up.hpp"

namespace tna::bench {

std::vector<std::string> remarksOf(const Entrant& entrant) {
    return entrant.lane ? entrant.lane->traffic().remarks() : std::vector<std::string>{};
}

Result<std::vector<Entrant>> lineUp(const std::vector<std::string>& names, const std::string& tnad,
                                    const Setup& setup, const Watcher& watcher,
                                    const std::function<void(const std::string&)>& announce) {
    std::vector<Entrant> all;
    for (const auto& name : names) {
        announce(name);
        auto contender = makeContender(name, tnad, setup);
        const bool optional = contender->optional();
        Entrant entrant{name, nullptr, "it was interrupted", Tcp::notTried, contender->cores()};
        if (!watcher.interrupted()) {
            auto lane = Lane::open(std::move(contender), setup);
            if (!lane && !optional)
                return std::unexpected(
                    Error{fmt::format("cannot measure {}", name), lane.error().sentence(), {}});
            if (lane) {
                entrant.lane = std::move(*lane);
                entrant.tcp = entrant.lane->tcp();
                entrant.notMeasured.clear();
            } else {
                entrant.withdraw(lane.error());
            }
        }
        all.push_back(std::move(entrant));
    }
    return all;
}

} // namespace tna::bench
