// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/reaction.hpp"

#include "bench/results/statistics.hpp"
#include "bench/testbed/many_ports.hpp"
#include "bench/testbed/netlink.hpp"
#include "bench/testbed/tnad.hpp"

#include <algorithm>
#include <bpf/libbpf.h>
#include <chrono>
#include <linux/if_link.h>
#include <thread>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(30);
/// Between two questions; each takes the daemon some time.
constexpr auto pollInterval = std::chrono::milliseconds(3);
/// Between two changes, so that each is one of its own.
constexpr auto betweenChanges = std::chrono::milliseconds(5);
/// The kernel enlarges its table in the background; a start meanwhile is not what is to be measured.
constexpr auto afterStations = std::chrono::seconds(1);
/// Counting tables after a start is not rest.
constexpr auto beforeRest = std::chrono::seconds(3);
constexpr double milliseconds = 1e3;
constexpr double mebibyte = 1024.0 * 1024.0;

double seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// What the daemon says is not all: the kernel must say so, too.
Result<void> allCarryPrograms(const ManyPorts& topology) {
    for (const unsigned ifindex : topology.ifindexes()) {
        __u32 program = 0;
        if (bpf_xdp_query_id(static_cast<int>(ifindex), XDP_FLAGS_DRV_MODE, &program) != 0 || program == 0)
            return fail("tnad says that all ports are accelerated; the one with index {} has no program",
                        ifindex);
    }
    return {};
}

/// All of it happens in the device's namespace.
class Measurement {
public:
    Measurement(const ReactionOptions& options, const ManyPorts& topology, Netlink netlink, Watcher& watcher)
        : options_(options), topology_(topology), netlink_(std::move(netlink)), watcher_(watcher) {}

    Result<Reaction> run() {
        if (auto done = startUps(); !done)
            return std::unexpected(done.error());
        if (auto done = changes(); !done)
            return std::unexpected(done.error());
        if (auto done = rest(); !done)
            return std::unexpected(done.error());
        return std::move(result_);
    }

private:
    /// A daemon, and the time that its start took.
    Result<std::pair<Tnad, double>> start() {
        auto tnad = Tnad::start(options_.tnad);
        if (!tnad)
            return std::unexpected(tnad.error());
        if (auto ready = tnad->waitAccelerated(options_.ports); !ready)
            return std::unexpected(ready.error());
        const double took = seconds(Clock::now() - tnad->process().startedAt());
        if (auto checked = allCarryPrograms(topology_); !checked)
            return std::unexpected(checked.error());
        return std::pair{std::move(*tnad), took};
    }

    Result<void> startUps() {
        for (unsigned round = 0; round < options_.starts && !watcher_.interrupted(); round++) {
            watcher_.progress("start-up", round, options_.starts);
            const auto started = start();
            if (!started)
                return std::unexpected(started.error());
            result_.startUp.push_back(started->second);
        }
        return {};
    }

    Result<nlohmann::json> waitForEvents(Tnad& tnad, const auto& enough) {
        for (const auto deadline = Clock::now() + patience;; std::this_thread::sleep_for(pollInterval)) {
            auto events = tnad.get("/v1/events");
            if (!events || enough(*events))
                return events;
            if (Clock::now() > deadline)
                return fail("tnad has not acted in {} s: {}", patience.count(), events->dump());
        }
    }

    Result<void> waitSettled(Tnad& tnad) {
        const auto settled =
            waitForEvents(tnad, [](const nlohmann::json& events) { return events["settled"].get<bool>(); });
        return settled ? Result<void>{} : std::unexpected(settled.error());
    }

    Result<void> changes() {
        auto started = start();
        if (!started)
            return std::unexpected(started.error());
        auto& tnad = started->first;
        if (auto settled = waitSettled(tnad); !settled)
            return settled;
        for (unsigned change = 0; change < options_.changes && !watcher_.interrupted(); change++) {
            if (change % 10 == 0)
                watcher_.progress("changes of a profile", change, options_.changes);
            // Each port is changed, and changed back the next time.
            const auto port = topology_.ifindexes()[change / 2 % topology_.ifindexes().size()];
            const auto took = changeOne(tnad, port, change % 2 == 1);
            if (!took)
                return std::unexpected(took.error());
            result_.reactions.push_back(*took);
            std::this_thread::sleep_for(betweenChanges);
        }
        return {};
    }

    Result<double> changeOne(Tnad& tnad, unsigned port, bool learning) {
        const auto before = tnad.get("/v1/events");
        if (!before)
            return std::unexpected(before.error());
        const auto swaps = (*before)["swaps"].get<std::uint64_t>();
        const auto at = Clock::now();
        if (auto set = netlink_.setLearning(port, learning); !set)
            return std::unexpected(set.error());
        result_.requests.push_back(seconds(Clock::now() - at));
        const auto after = waitForEvents(
            tnad, [&](const nlohmann::json& events) { return events["swaps"].get<std::uint64_t>() > swaps; });
        if (!after)
            return std::unexpected(after.error());
        const auto done =
            Clock::time_point(std::chrono::nanoseconds((*after)["last_swap_at_ns"].get<std::int64_t>()));
        result_.own.push_back((*after)["last_swap_us"].get<double>() / 1e6);
        return seconds(done - at);
    }

    Result<void> rest() {
        if (watcher_.interrupted())
            return {};
        watcher_.progress(fmt::format("at rest with {} stations", options_.stations), 1, 2);
        if (auto added = netlink_.addStations(topology_.ifindexes(), options_.stations); !added)
            return added;
        std::this_thread::sleep_for(afterStations);
        auto started = start();
        if (!started)
            return std::unexpected(started.error());
        auto& [tnad, took] = *started;
        result_.startUpWithStations = took;
        if (auto settled = waitSettled(tnad); !settled)
            return settled;
        std::this_thread::sleep_for(beforeRest);
        const auto begin = Clock::now();
        const double cpuBefore = tnad.process().cpuSeconds();
        while (seconds(Clock::now() - begin) < options_.idleSeconds && !watcher_.interrupted())
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        result_.idleCpu = (tnad.process().cpuSeconds() - cpuBefore) / seconds(Clock::now() - begin);
        result_.residentBytes = tnad.process().residentBytes();
        return {};
    }

    const ReactionOptions& options_;
    const ManyPorts& topology_;
    Netlink netlink_;
    Watcher& watcher_;
    Reaction result_;
};

std::string percentiles(const char* what, const std::vector<double>& values) {
    return fmt::format("{}: p50 {:.2f} ms, p99 {:.2f} ms (most {:.2f}, of {})\n", what,
                       quantileOf(values, 0.5) * milliseconds, quantileOf(values, 0.99) * milliseconds,
                       quantileOf(values, 1) * milliseconds, values.size());
}

nlohmann::json timesDocument(const std::vector<double>& values) {
    const auto summary = summarise(values);
    return {{"median_s", summary.median},
            {"p99_s", quantileOf(values, 0.99)},
            {"min_s", summary.least},
            {"max_s", summary.most},
            {"all_s", values}};
}
} // namespace

Result<Reaction> measureReaction(const ReactionOptions& options, Watcher& watcher) {
    watcher.progress(fmt::format("making {} ports", options.ports), 0, 1);
    const auto topology = ManyPorts::make(options.ports);
    if (!topology)
        return std::unexpected(topology.error());
    auto inside = NamespaceScope::enter(topology->device());
    if (!inside)
        return std::unexpected(inside.error());
    auto netlink = Netlink::open();
    if (!netlink)
        return std::unexpected(netlink.error());
    return Measurement(options, *topology, std::move(*netlink), watcher).run();
}

std::string renderReaction(const ReactionOptions& options, const Reaction& reaction) {
    const auto startUp = summarise(reaction.startUp);
    std::string text = fmt::format(
        "start-up, exec to {} ports accelerated: median {:.2f} s (least {:.2f}, most {:.2f}, of {})\n",
        options.ports, startUp.median, startUp.least, startUp.most, reaction.startUp.size());
    text += percentiles("change of a profile, request to in place", reaction.reactions);
    text += percentiles("  the kernel's time to make the change", reaction.requests);
    text += percentiles("  tnad's time, from when it was woken", reaction.own);
    text +=
        fmt::format("with {} stations in the FDB: start-up {:.2f} s; at rest {:.3f} % of a core, {:.1f} MiB "
                    "resident\n",
                    options.stations, reaction.startUpWithStations, reaction.idleCpu * 100,
                    static_cast<double>(reaction.residentBytes) / mebibyte);
    return text;
}

nlohmann::json reactionDocument(const ReactionOptions& options, const nlohmann::json& machine,
                                const Reaction& reaction) {
    return {
        {"version", 2},
        {"command", "reaction"},
        {"machine", machine},
        {"options",
         {{"ports", options.ports}, {"stations", options.stations}, {"idle_seconds", options.idleSeconds}}},
        {"start_up", timesDocument(reaction.startUp)},
        {"reaction", timesDocument(reaction.reactions)},
        {"with_stations",
         {{"start_up_s", reaction.startUpWithStations},
          {"idle_cpu", reaction.idleCpu},
          {"resident_bytes", reaction.residentBytes}}}};
}

} // namespace tna::bench
