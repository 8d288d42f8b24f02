// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/change.hpp"

#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"
#include "bench/testbed/netlink.hpp"
#include "bench/traffic/clock.hpp"

#include <chrono>
#include <functional>
#include <net/if.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto tick = std::chrono::milliseconds(1);
/// So long nothing may arrive for a change to be in effect: what is under way arrives within less.
constexpr auto quiet = std::chrono::milliseconds(30);
constexpr auto patience = std::chrono::seconds(10);
constexpr double milliseconds = 1e3;

/// Something that is set and taken back by one request each.
struct Kind {
    const char* name;
    std::function<Result<void>(Netlink& netlink, bool on)> set;
};

/// In the device's namespace.
std::vector<Kind> allKinds() {
    const unsigned ingress = ::if_nametoindex("d0");
    const unsigned egress = ::if_nametoindex("d1");
    return {
        {"a port is isolated", [=](Netlink& netlink, bool on) { return netlink.setIsolated(egress, on); }},
        {"a station moves",
         [=](Netlink& netlink, bool on) { return netlink.moveStation(on ? ingress : egress); }}};
}

/// Under load, one change after the other.
class Changes {
public:
    Changes(Traffic& traffic, Netlink& netlink, const Kind& kind, ChangeSeries& series)
        : traffic_(traffic), netlink_(netlink), kind_(kind), series_(series) {}

    Result<void> one() {
        traffic_.sink().forgetDates();
        if (auto flows = until([&] { return traffic_.sink().dates().first != 0; }, "nothing arrives"); !flows)
            return flows;
        const auto closed = set(true);
        if (!closed)
            return std::unexpected(closed.error());
        if (auto stopped = untilQuiet(); !stopped)
            return stopped;
        series_.closed.push_back(secondsAfter(*closed, traffic_.sink().dates().last));
        traffic_.sink().forgetDates();
        const auto opened = set(false);
        if (!opened)
            return std::unexpected(opened.error());
        if (auto flows =
                until([&] { return traffic_.sink().dates().first != 0; }, "nothing arrives any more");
            !flows)
            return flows;
        series_.opened.push_back(secondsAfter(*opened, traffic_.sink().dates().first));
        return {};
    }

private:
    /// When the request had returned.
    Result<std::uint64_t> set(bool on) {
        if (auto done = kind_.set(netlink_, on); !done)
            return std::unexpected(done.error());
        return monotonicNow();
    }
    template <typename Condition>
    static Result<void> until(Condition condition, const char* otherwise) {
        for (const auto deadline = std::chrono::steady_clock::now() + patience; !condition();
             std::this_thread::sleep_for(tick))
            if (std::chrono::steady_clock::now() > deadline)
                return fail("{}", otherwise);
        return {};
    }
    Result<void> untilQuiet() {
        auto last = traffic_.counters().received;
        auto since = std::chrono::steady_clock::now();
        return until(
            [&] {
                const auto now = std::chrono::steady_clock::now();
                if (const auto received = traffic_.counters().received; received != last) {
                    last = received;
                    since = now;
                }
                return now - since > quiet;
            },
            "frames still arrive after the change");
    }
    Traffic& traffic_;
    Netlink& netlink_;
    const Kind& kind_;
    ChangeSeries& series_;
};

Result<void> play(const ChangeOptions& options, Lane& lane, const Kind& kind, ChangeSeries& series,
                  const Watcher& watcher) {
    const Turn turn{lane.contender()};
    if (!turn.begun())
        return std::unexpected(turn.begun().error());
    auto& traffic = lane.traffic();
    auto netlink = Netlink::open();
    if (!netlink)
        return std::unexpected(netlink.error());
    // Only between two isolated ports nothing is forwarded.
    if (auto isolated = netlink->setIsolated(::if_nametoindex("d0"), true); !isolated)
        return isolated;
    if (auto watching = traffic.sink().watch(TrafficSink::Watch::dates); !watching)
        return watching;
    const auto load = Load::paced(traffic, options.rate);
    Changes changes{traffic, *netlink, kind, series};
    Result<void> done;
    for (unsigned change = 0; change < options.changes && done && !watcher.interrupted(); change++)
        done = changes.one();
    if (auto stopped = load->stop(); done && !stopped)
        done = stopped;
    [[maybe_unused]] const auto settled = traffic.settle();
    if (auto back = traffic.sink().watch(TrafficSink::Watch::nothing); done && !back)
        done = back;
    return done;
}

std::string timesText(const std::vector<double>& times) {
    if (times.empty())
        return "-";
    return fmt::format("{:>8.3f} {:>8.3f} {:>8.3f}", quantileOf(times, 0.5) * milliseconds,
                       quantileOf(times, 0.99) * milliseconds, quantileOf(times, 1) * milliseconds);
}

nlohmann::json timesDocument(const std::vector<double>& times) {
    if (times.empty())
        return nullptr;
    return {{"median_s", quantileOf(times, 0.5)},
            {"p99_s", quantileOf(times, 0.99)},
            {"max_s", quantileOf(times, 1)},
            {"all_s", times}};
}
} // namespace

double secondsAfter(std::uint64_t returned, std::uint64_t frame) {
    return frame > returned ? static_cast<double>(frame - returned) * 1e-9 : 0;
}

Result<std::vector<ChangeSeries>> measureChanges(const ChangeOptions& options, Watcher& watcher) {
    auto entrants = lineUp(options.contenders, options.tnad, options.setup, watcher,
                           [&](const auto& name) { watcher.progress("preparing " + name, 0, 1); });
    if (!entrants)
        return std::unexpected(entrants.error());
    std::vector<ChangeSeries> all;
    for (auto& entrant : *entrants) {
        if (!entrant.lane) {
            all.push_back({entrant.name, "", {}, {}, entrant.notMeasured});
            continue;
        }
        const auto inside = NamespaceScope::enter(entrant.lane->topology().device());
        if (!inside)
            return std::unexpected(inside.error());
        for (const auto& kind : allKinds()) {
            if (watcher.interrupted())
                return all;
            watcher.progress(fmt::format("{}: {}", entrant.name, kind.name),
                             static_cast<unsigned>(all.size()),
                             static_cast<unsigned>(entrants->size() * allKinds().size()));
            all.push_back({entrant.name, kind.name, {}, {}, {}});
            if (auto played = play(options, *entrant.lane, kind, all.back(), watcher); !played)
                all.back().notMeasured = played.error().sentence();
        }
    }
    return all;
}

std::string renderChanges(const ChangeOptions& options, const std::vector<ChangeSeries>& all) {
    auto text = fmt::format("Milliseconds from the system call's return to the last frame sent that still "
                            "arrived, and, changed back, to\n"
                            "the first that arrived again; 0: not one frame was treated the old way. {} "
                            "frames per second, {} changes.\n\n"
                            "contender    change                   closed: p50      p99      max    open: "
                            "p50      p99      max\n",
                            options.rate, options.changes);
    for (const auto& series : all)
        text += series.notMeasured.empty()
                    ? fmt::format("{:<12} {:<22} {:>28}   {:>28}\n", series.contender, series.change,
                                  timesText(series.closed), timesText(series.opened))
                    : fmt::format("{:<12} {:<22} not measured: {}\n", series.contender, series.change,
                                  series.notMeasured);
    return text;
}

nlohmann::json changeDocument(const ChangeOptions& options, const nlohmann::json& machine,
                              const std::vector<ChangeSeries>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& series : all)
        list.push_back({{"contender", series.contender},
                        {"change", series.change},
                        {"closed", timesDocument(series.closed)},
                        {"opened", timesDocument(series.opened)},
                        {"not_measured", textOrNull(series.notMeasured)}});
    auto described = setupDocument(options.setup);
    described.update(
        {{"contenders", options.contenders}, {"changes", options.changes}, {"rate", options.rate}});
    return {{"version", 1},
            {"command", "change"},
            {"machine", machine},
            {"options", described},
            {"series", list}};
}

} // namespace tna::bench
