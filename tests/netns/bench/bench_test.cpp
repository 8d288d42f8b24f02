// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark measures what it says; never how fast anything is.
#include "bench/throughput.hpp"
#include "support/command.hpp"
#include "support/namespace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Unwatched : public Watcher {
public:
    void progress(const std::string&, unsigned, unsigned) override {}
    [[nodiscard]] bool interrupted() const override { return false; }
};

class Bench : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
    }
    static std::string leftNamespaces(pid_t pid) {
        const auto list = test::command({"ip", "netns", "list"}).output;
        return list.find("tnab-" + std::to_string(pid) + "-") == std::string::npos ? "" : list;
    }
};

TEST_F(Bench, EveryContenderForwardsWholeFramesAndNothingIsLeftBehind) {
    ThroughputOptions options;
    options.contenders = {"linux", "tna", "ceiling"};
    options.stations = {3};
    options.cpus = {1};
    options.rounds = 1;
    options.seconds = 0.01;
    options.leastFrames = 5000;
    options.tnad = TNAD;
    Unwatched watcher;
    const auto all = measureThroughput(options, watcher);
    ASSERT_TRUE(all) << all.error().sentence();
    ASSERT_EQ(all->size(), 3U);
    for (const auto& series : *all) {
        ASSERT_EQ(series.notMeasured, "") << series.contender;
        ASSERT_EQ(series.rounds.size(), 1U);
        const auto& sample = series.rounds.front();
        EXPECT_GE(sample.received, options.leastFrames) << series.contender;
        EXPECT_GE(sample.total.received, sample.received);
        EXPECT_EQ(sample.total.sent, sample.total.received + sample.lost());
        EXPECT_EQ(sample.total.wrong, 0U) << series.contender;
        EXPECT_EQ(sample.slow.has_value(), series.contender == "tna");
    }
    EXPECT_EQ(leftNamespaces(::getpid()), "");
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
    wrong("--cpus", "1000", "1000 CPUs were asked for");
    wrong("--stations", "0", "--stations must be from 1");
    wrong("--size", "20", "--size must be from 64");
    wrong("--rounds", "0", "at least one round");
}

} // namespace
} // namespace tna::bench
