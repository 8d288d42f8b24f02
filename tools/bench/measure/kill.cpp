// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/kill.hpp"

#include "bench/testbed/tnad.hpp"
#include "bench/traffic/load.hpp"

#include <bpf/libbpf.h>
#include <chrono>
#include <linux/if_link.h>
#include <net/if.h>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(20);
constexpr auto tick = std::chrono::milliseconds(1);

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <typename Condition>
bool eventually(Condition condition) {
    for (const auto deadline = Clock::now() + patience; !condition(); std::this_thread::sleep_for(tick))
        if (Clock::now() > deadline)
            return false;
    return true;
}

bool carriesXdp(const char* device) {
    __u32 program = 0;
    const int ifindex = static_cast<int>(::if_nametoindex(device));
    return bpf_xdp_query_id(ifindex, XDP_FLAGS_DRV_MODE, &program) == 0 && program != 0;
}

/// One kill, in the device's namespace, with the generator running.
class Kill {
public:
    Kill(const KillOptions& options, Traffic& traffic) : options_(options), traffic_(traffic) {}

    Result<KillRound> run() {
        auto first = startTnad();
        if (!first)
            return std::unexpected(first.error());
        if (auto verified = traffic_.verify(true); !verified)
            return std::unexpected(verified.error());
        const auto before = traffic_.counters();
        const auto start = Clock::now();
        auto done = underLoad(*first);
        if (!done)
            return std::unexpected(done.error());
        round_.total = traffic_.settle().since(before);
        if (auto same = undisturbed(secondsSince(start)); !same)
            return std::unexpected(same.error());
        return round_;
    }

private:
    Result<Tnad> startTnad() const {
        auto tnad = Tnad::start(options_.tnad);
        if (!tnad)
            return tnad;
        if (auto ready = tnad->waitAccelerated(2); !ready)
            return std::unexpected(ready.error());
        return tnad;
    }

    Result<void> underLoad(Tnad& first) {
        Load load{traffic_, 1};
        if (auto flows = forSomeTime("before the kill"); !flows)
            return flows;
        if (auto killed = kill(first); !killed)
            return killed;
        const auto again = Clock::now();
        auto second = startTnad();
        if (!second)
            return std::unexpected(second.error());
        round_.acceleratedAfter = secondsSince(again);
        if (auto flows = forSomeTime("after the new start"); !flows)
            return flows;
        if (auto stopped = load.stop(); !stopped)
            return stopped;
        const auto port = second->port("d0");
        if (!port)
            return std::unexpected(port.error());
        round_.fastAgain = (*port)["fast_packets"].get<std::uint64_t>();
        if (round_.fastAgain < options_.leastFrames)
            return fail("the new tnad's fast path took only {} frames", round_.fastAgain);
        return {};
    }

    Result<void> kill(Tnad& tnad) {
        round_.owned = objectsOf(tnad.process().pid());
        const auto signalled = Clock::now();
        tnad.kill();
        if (!eventually([] { return !carriesXdp("d0") && !carriesXdp("d1"); }))
            return fail("the ports still carry an XDP program {} s after the kill", patience.count());
        round_.detachedAfter = secondsSince(signalled);
        const auto before = traffic_.counters().received;
        if (auto flows = forSomeTime("without tnad"); !flows)
            return flows;
        round_.slowMeanwhile = traffic_.counters().received - before;
        // The kernel frees after grace periods.
        eventually([&] { return (round_.leftBehind = stillThere(round_.owned)).count() == 0; });
        if (round_.leftBehind.count() > 0)
            return fail("the killed tnad left behind {}", round_.leftBehind.text());
        return {};
    }

    Result<void> forSomeTime(const char* when) const {
        const auto wanted = traffic_.counters().received + options_.leastFrames;
        std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds));
        if (eventually([&] { return traffic_.counters().received >= wanted; }))
            return {};
        return fail("frames do not arrive {}", when);
    }

    /// What the same load loses anyway.
    Result<void> undisturbed(double seconds) {
        const auto tnad = startTnad();
        if (!tnad)
            return std::unexpected(tnad.error());
        const auto before = traffic_.counters();
        Load load{traffic_, 1};
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        if (auto stopped = load.stop(); !stopped)
            return stopped;
        round_.undisturbed = traffic_.settle().since(before);
        return {};
    }

    const KillOptions& options_;
    Traffic& traffic_;
    KillRound round_;
};

nlohmann::json accountDocument(const Counters& counters) {
    return {{"sent", counters.sent},
            {"received", counters.received},
            {"lost", counters.sent - counters.received}};
}
} // namespace

Result<std::vector<KillRound>> measureKills(const KillOptions& options, Watcher& watcher) {
    const Setup setup{.flows = options.stations, .frameSize = options.frameSize};
    const auto topology = Topology::make(setup);
    if (!topology)
        return std::unexpected(topology.error());
    auto traffic = Traffic::load(*topology, setup);
    if (!traffic)
        return std::unexpected(traffic.error());
    auto inside = NamespaceScope::enter(topology->device());
    if (!inside)
        return std::unexpected(inside.error());
    std::vector<KillRound> rounds;
    for (unsigned round = 0; round < options.rounds && !watcher.interrupted(); round++) {
        watcher.progress("SIGKILL under load", round, options.rounds);
        auto killed = Kill(options, **traffic).run();
        if (!killed)
            return std::unexpected(killed.error());
        rounds.push_back(std::move(*killed));
    }
    return rounds;
}

std::string renderKills(const std::vector<KillRound>& rounds) {
    std::string table = "round        sent    received  lost  lost without a kill  Linux alone  detached ms  "
                        "accelerated again ms  held by tnad -> left behind\n";
    for (std::size_t i = 0; i < rounds.size(); i++) {
        const auto& round = rounds[i];
        table += fmt::format("{:>5} {:>11} {:>11} {:>5} {:>20} {:>12} {:>12.1f} {:>21.0f}  {} -> {}\n", i + 1,
                             round.total.sent, round.total.received, round.lost(), round.lostUndisturbed(),
                             round.slowMeanwhile, round.detachedAfter * 1e3, round.acceleratedAfter * 1e3,
                             round.owned.text(),
                             round.leftBehind.count() == 0 ? "nothing" : round.leftBehind.text());
    }
    return table;
}

nlohmann::json killDocument(const KillOptions& options, const nlohmann::json& machine,
                            const std::vector<KillRound>& rounds) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& round : rounds)
        list.push_back({{"with_kill", accountDocument(round.total)},
                        {"without_kill", accountDocument(round.undisturbed)},
                        {"received_from_linux_alone", round.slowMeanwhile},
                        {"fast_again", round.fastAgain},
                        {"detached_s", round.detachedAfter},
                        {"accelerated_again_s", round.acceleratedAfter},
                        {"owned", round.owned.count()},
                        {"left_behind", round.leftBehind.count()}});
    return {{"version", 2},
            {"command", "kill"},
            {"machine", machine},
            {"options",
             {{"frame_size", options.frameSize}, {"stations", options.stations}, {"rounds", options.rounds}}},
            {"rounds", list}};
}

} // namespace tna::bench
