// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark measures what it says; never how fast anything is.
#include "base/file.hpp"
#include "bench/contenders/contender.hpp"
#include "bench/measure/kill.hpp"
#include "bench/measure/latency.hpp"
#include "bench/measure/reaction.hpp"
#include "bench/measure/throughput.hpp"
#include "bench/testbed/many_ports.hpp"
#include "bench/testbed/netlink.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tna::bench {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Bench : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
    }
    static ThroughputOptions shortRun() {
        ThroughputOptions options;
        options.cpus = {1};
        options.rounds = 1;
        options.seconds = 0.01;
        options.leastFrames = 5000;
        options.tnad = TNAD;
        return options;
    }
    static std::string leftNamespaces(pid_t pid) {
        const auto list = test::command({"ip", "netns", "list"}).output;
        return list.find("tnab-" + std::to_string(pid) + "-") == std::string::npos ? "" : list;
    }
};

TEST_F(Bench, EveryContenderForwardsWholeFramesAndNothingIsLeftBehind) {
    auto options = shortRun();
    options.contenders = {"linux", "tna", "tna-mirror", "tna@" TNAD, "ceiling", "direct"};
    options.stations = {3};
    Unwatched watcher;
    const auto all = measureThroughput(options, watcher);
    ASSERT_TRUE(all) << all.error().sentence();
    ASSERT_EQ(all->size(), options.contenders.size());
    for (const auto& series : *all) {
        ASSERT_EQ(series.notMeasured, "") << series.contender;
        ASSERT_EQ(series.rounds.size(), 1U);
        const auto& sample = series.rounds.front();
        EXPECT_GE(sample.received, options.leastFrames) << series.contender;
        EXPECT_GE(sample.total.received, sample.received);
        EXPECT_EQ(sample.total.sent, sample.total.received + sample.lost());
        EXPECT_EQ(sample.total.wrong, 0U) << series.contender;
        EXPECT_EQ(sample.slow.has_value(), series.contender.starts_with("tna"));
    }
    EXPECT_EQ(leftNamespaces(::getpid()), "");
}

TEST_F(Bench, RoutersForwardWholePacketsAndAreFast) {
    auto options = shortRun();
    options.setup.scenario = Scenario::router;
    options.contenders = usualContenders(options.setup.scenario);
    options.stations = {1, 300};
    options.setup.routes = 20;
    Unwatched watcher;
    const auto all = measureThroughput(options, watcher);
    ASSERT_TRUE(all) << all.error().sentence();
    ASSERT_EQ(all->size(), 8U);
    for (const auto& series : *all) {
        ASSERT_EQ(series.notMeasured, "") << series.contender;
        EXPECT_EQ(series.rounds.front().total.wrong, 0U) << series.contender;
        if (series.contender == "tna") {
            EXPECT_LT(*series.rounds.front().slow, series.rounds.front().total.sent / 2);
        }
    }
    EXPECT_EQ(leftNamespaces(::getpid()), "");
}

TEST_F(Bench, LatencyIsTakenOfEveryFrameThatArrives) {
    LatencyOptions options;
    options.contenders = {"linux", "tna", "ceiling"};
    options.loads = {1, 5};
    options.setup.flows = 3;
    options.rounds = 2;
    options.seconds = 0.05;
    options.search.loss = 99; // a busy machine loses frames at every rate
    options.tnad = TNAD;
    Unwatched watcher;
    for (const bool roundTrip : {false, true}) {
        options.roundTrip = roundTrip;
        const auto result = measureLatency(options, watcher);
        ASSERT_TRUE(result) << result.error().sentence();
        EXPECT_GT(result->capacity, 0);
        ASSERT_EQ(result->series.size(), 6U);
        for (const auto& series : result->series) {
            EXPECT_GT(series.sent, 0U) << series.contender;
            EXPECT_EQ(series.latencies.total(), series.sent - series.lost) << series.contender;
            EXPECT_GT(series.latencies.total(), 0U) << series.contender;
            EXPECT_GT(series.latencies.quantile(0.5), 50) << series.contender; // a clock of nanoseconds
            EXPECT_LE(series.latencies.quantile(0.5), series.latencies.largest());
            EXPECT_EQ(series.medians.size(), options.rounds);
        }
        EXPECT_DOUBLE_EQ(result->series[3].wantedRate, 5 * result->series[0].wantedRate);
    }
    EXPECT_EQ(leftNamespaces(::getpid()), "");
}

/// Back through routers, too: their packets have to find home.
TEST_F(Bench, RoundTripsGoThroughRouters) {
    for (const auto scenario :
         {Scenario::router, Scenario::router6, Scenario::bridges, Scenario::firewall, Scenario::firewall6}) {
        LatencyOptions options;
        options.contenders = {"linux", "tna"};
        options.loads = {5};
        options.setup.scenario = scenario;
        options.setup.frameSize = 100;
        options.rounds = 1;
        options.seconds = 0.05;
        options.search.loss = 99;
        options.roundTrip = true;
        options.tnad = TNAD;
        Unwatched watcher;
        const auto result = measureLatency(options, watcher);
        ASSERT_TRUE(result) << result.error().sentence();
        for (const auto& series : result->series)
            EXPECT_GT(series.latencies.total(), 0U) << nameOf(scenario) << ", " << series.contender;
    }
}

TEST_F(Bench, RulesAreMetAndPassed) {
    if (test::command({"nft", "--version"}).exitCode != 0)
        GTEST_SKIP() << "needs nft";
    for (const auto scenario : {Scenario::bridge, Scenario::router, Scenario::router6}) {
        auto options = shortRun();
        options.setup.scenario = scenario;
        options.setup.frameSize = 100;
        options.contenders = {"linux"};
        options.stations = {3};
        options.sizes = {100};
        options.rules = {0, 30};
        Unwatched watcher;
        const auto all = measureThroughput(options, watcher);
        ASSERT_TRUE(all) << all.error().sentence();
        ASSERT_EQ(all->size(), 2U);
        EXPECT_EQ(all->back().setup.rules, 30U);
        EXPECT_EQ(all->back().notMeasured, "");
    }
}

TEST_F(Bench, RulesAreThereAsMany) {
    if (test::command({"nft", "--version"}).exitCode != 0)
        GTEST_SKIP() << "needs nft";
    for (const auto scenario : {Scenario::bridge, Scenario::router, Scenario::router6}) {
        bench::Setup setup;
        setup.scenario = scenario;
        setup.rules = 30;
        setup.routingRules = routes(scenario) && scenario != Scenario::router6 ? 20 : 0;
        const auto topology = Topology::make(setup);
        ASSERT_TRUE(topology) << topology.error().sentence();
        const auto inside = NamespaceScope::enter(topology->device());
        ASSERT_TRUE(inside);
        const auto count = [](const std::vector<std::string>& words, const std::string& what) {
            const auto text = test::command(words).output;
            unsigned found = 0;
            for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
                found++;
            return found;
        };
        EXPECT_EQ(count({"nft", "list", "ruleset"}, " drop\n"), setup.rules) << nameOf(scenario);
        EXPECT_EQ(count({"ip", "rule"}, "lookup 200"), setup.routingRules) << nameOf(scenario);
    }
}

TEST_F(Bench, DaemonThatDoesNotRunEndsItWithOneSentence) {
    const auto run = test::command({TNA_BENCH, "throughput", "--quick", "--tnad", "/bin/false"});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_THAT(run.output, HasSubstr("tnad does not run here: it ended with exit code 1"));
    const auto missing = test::command({TNA_BENCH, "throughput", "--tnad", "/nonexistent/tnad"});
    EXPECT_EQ(missing.exitCode, 4);
    EXPECT_THAT(missing.output, HasSubstr("--tnad"));
}

TEST_F(Bench, WrongArgumentsAreNamed) {
    const auto wrong = [](const std::string& option, const std::string& value, const std::string& words) {
        const auto run = test::command({TNA_BENCH, "throughput", option, value});
        EXPECT_EQ(run.exitCode, 2) << option << " " << value;
        EXPECT_THAT(run.output, HasSubstr(words));
    };
    wrong("--contender", "nobody", "there is no contender 'nobody'");
    wrong("--contender", "tna@/nonexistent", "cannot run '/nonexistent': No such file");
    wrong("--cpus", "1000", "1000 CPUs were asked for");
    wrong("--stations", "0", "--stations must be from 1");
    wrong("--size", "20", "--size: must be a whole number from 64 to 9014");
    wrong("--rounds", "0", "at least one round");
    wrong("--routes", "2", "choose one with --scenario");
    wrong("--scenario", "hub", "--scenario");
    wrong("--size", "9015", "--size: must be a whole number from 64 to 9014");
    wrong("--tx", "eth7", "--tx and --rx need each other");
    wrong("--dut", "ssh there", "name --tx and --rx");
    wrong("--rules", "1000000", "--rules and --routing-rules must be up to");
    wrong("--routing-rules", "1", "choose one with --scenario");
    wrong("--entries", "10000000", "--entries must be up to");
    wrong("--ports", "1", "--ports: must be a whole number from 2");
    wrong("--generator", "magic", "--generator");
    wrong("--tracking", "off", "are of firewalls: choose one with --scenario");
    const auto large = test::command({TNA_BENCH, "throughput", "--generator", "live", "--size", "4000"});
    EXPECT_EQ(large.exitCode, 2);
    EXPECT_THAT(large.output, HasSubstr("--generator live sends frames of up to 3000 bytes: choose packet"));
    const auto nobody =
        test::command({TNA_BENCH, "throughput", "--scenario", "router", "--contender", "linux+nf"});
    EXPECT_EQ(nobody.exitCode, 2);
    EXPECT_THAT(nobody.output, HasSubstr("'linux+nf' is no router: choose it with --scenario bridge"));
    const auto load = test::command({TNA_BENCH, "latency", "--loads", "0"});
    EXPECT_EQ(load.exitCode, 2);
    EXPECT_THAT(load.output, HasSubstr("--loads: must be a whole number from 1 to 100"));
}

TEST_F(Bench, KillUnderLoadAccountsForEveryFrameAndLeavesNothing) {
    KillOptions options;
    options.stations = 3;
    options.rounds = 1;
    options.seconds = 0.01;
    options.leastFrames = 2000;
    options.tnad = TNAD;
    Unwatched watcher;
    const auto rounds = measureKills(options, watcher);
    ASSERT_TRUE(rounds) << rounds.error().sentence();
    ASSERT_EQ(rounds->size(), 1U);
    const auto& round = rounds->front();
    EXPECT_GE(round.total.received, 3 * options.leastFrames);
    EXPECT_GE(round.total.sent, round.total.received);
    EXPECT_EQ(round.total.wrong, 0U);
    EXPECT_GE(round.slowMeanwhile, options.leastFrames);
    EXPECT_GE(round.fastAgain, options.leastFrames);
    // Two ports: an entry and a slot each, at least; the pipeline and its maps.
    EXPECT_GE(round.owned.programs.size(), 3U);
    EXPECT_GE(round.owned.maps.size(), 5U);
    EXPECT_EQ(round.owned.links.size(), 2U);
    EXPECT_EQ(round.leftBehind.count(), 0U);
    EXPECT_EQ(leftNamespaces(::getpid()), "");
}

/// What the search for things left behind rests on.
TEST_F(Bench, ObjectsOfAProcessAreFoundAndAreGoneWhenNobodyHoldsThem) {
    UniqueFd map{bpf_map_create(BPF_MAP_TYPE_ARRAY, "bench_test", 4, 4, 1, nullptr)};
    ASSERT_TRUE(map);
    const auto mine = objectsOf(::getpid());
    EXPECT_EQ(mine.maps.size(), 1U);
    EXPECT_EQ(stillThere(mine).count(), 1U);
    map.reset();
    EXPECT_TRUE(test::eventually([&] { return stillThere(mine).count() == 0; }));
}

TEST_F(Bench, ReactionMeasuresEachStartAndEachChange) {
    ReactionOptions options;
    options.ports = 3;
    options.starts = 2;
    options.changes = 6;
    options.stations = 1000;
    options.idleSeconds = 0.1;
    options.tnad = TNAD;
    Unwatched watcher;
    const auto reaction = measureReaction(options, watcher);
    ASSERT_TRUE(reaction) << reaction.error().sentence();
    EXPECT_THAT(reaction->startUp, SizeIs(2));
    EXPECT_THAT(reaction->startUp, Each(Gt(0)));
    EXPECT_THAT(reaction->reactions, SizeIs(6));
    EXPECT_THAT(reaction->reactions, Each(Gt(0)));
    EXPECT_GT(reaction->residentBytes, 1U << 20U);
    EXPECT_EQ(leftNamespaces(::getpid()), "");
}

TEST_F(Bench, StationsAreAddedAsMany) {
    const auto topology = ManyPorts::make(2);
    ASSERT_TRUE(topology) << topology.error().sentence();
    const auto inside = NamespaceScope::enter(topology->device());
    ASSERT_TRUE(inside);
    auto netlink = Netlink::open();
    ASSERT_TRUE(netlink);
    // A port takes stations once it forwards, which is a moment after it was set up.
    Result<void> added;
    ASSERT_TRUE(test::eventually([&] {
        added = netlink->addStations(topology->ifindexes(), 1000);
        return added.has_value();
    })) << added.error().sentence();
    const auto listed = test::command({"bridge", "fdb", "show", "br", "br0", "dynamic"}).output;
    EXPECT_EQ(std::ranges::count(listed, '\n'), 1000);
    EXPECT_THAT(listed, HasSubstr("02:10:00:00:03:e7 dev p1 master br0"));
}

/// The program runs in a process of a session of its own; Ctrl-C reaches the one in front of it.
TEST_F(Bench, InterruptionCleansUpAndIsTold) {
    const pid_t front = ::fork();
    if (front == 0) {
        ::execl(TNA_BENCH, TNA_BENCH, "throughput", "--rounds", "1000", "--tnad", TNAD, nullptr);
        ::_exit(127);
    }
    std::string worker;
    const auto children = fmt::format("/proc/{0}/task/{0}/children", front);
    EXPECT_TRUE(test::eventually([&] {
        worker = readFile(children).value_or("");
        return !worker.empty() && leftNamespaces(std::atoi(worker.c_str())) != "";
    }));
    ::kill(front, SIGINT);
    int status = 0;
    ::waitpid(front, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_EQ(leftNamespaces(std::atoi(worker.c_str())), "");
}

} // namespace
} // namespace tna::bench
