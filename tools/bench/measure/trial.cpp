// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/trial.hpp"

#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr Duration fullOffer{0.05, 1000};
/// A generator that is not throttled by what it sends to may be faster when it sends frame by frame.
constexpr double headroom = 1.5;
} // namespace

Result<Trial> offer(Lane& lane, double rate, double seconds) {
    const Turn turn{lane.contender()};
    if (!turn.begun())
        return std::unexpected(turn.begun().error());
    auto& traffic = lane.traffic();
    const auto before = traffic.counters();
    const auto start = Clock::now();
    const auto load = Load::paced(traffic, rate, lane.setup().reverse);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    const auto reached = traffic.counters().sent - before.sent;
    if (auto stopped = load->stop(); !stopped)
        return std::unexpected(stopped.error());
    const auto total = traffic.settle().since(before);
    if (total.wrong != 0)
        return fail("{} of {} frames arrived changed", total.wrong, total.received);
    return Trial{rate, static_cast<double>(reached) / passed, total.sent, total.lost()};
}

std::string problemWith(const NoLossOptions& options) {
    if (options.loss < 0 || options.loss >= 100)
        return "--loss is per cent, from 0 to less than 100";
    if (options.precision <= 0 || options.precision > 50)
        return "--precision is per cent, more than 0 and up to 50";
    return {};
}

Result<NoLossRate> findNoLossRate(Lane& lane, const NoLossOptions& options) {
    constexpr double percent = 100;
    const auto full = lane.measure(fullOffer);
    if (!full)
        return std::unexpected(full.error());
    const Search search{.most = headroom * static_cast<double>(full->received) / full->seconds,
                        .tolerance = options.loss / percent,
                        .resolution = options.precision / percent};
    return findNoLossRate(search, [&](double rate) { return offer(lane, rate, options.trial); });
}

} // namespace tna::bench
