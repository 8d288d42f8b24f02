// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/containers.hpp"
#include "bench/measure/rfc2544.hpp"
#include "bench/measure/throughput_report.hpp"
#include "bench/measure/turns.hpp"
#include "bench/testbed/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Sample sampleOf(std::uint64_t received, std::uint64_t lost, std::optional<std::uint64_t> slow = {}) {
    return {1.0, received, 0.5, 0, {.sent = received + lost, .received = received}, slow};
}

Series seriesOf(const std::string& contender, std::vector<Sample> rounds) {
    return {contender, {}, std::move(rounds), {}};
}

std::vector<Series> threeRounds() {
    return {
        seriesOf("linux", {sampleOf(1'000'000, 0), sampleOf(2'000'000, 0), sampleOf(1'000'000, 5)}),
        seriesOf("tna", {sampleOf(3'000'000, 0, 0), sampleOf(4'000'000, 0, 0), sampleOf(5'000'000, 0, 0)}),
        seriesOf("ceiling", {sampleOf(4'000'000, 0), sampleOf(5'000'000, 0), sampleOf(5'000'000, 0)})};
}

TEST(BenchReport, RatiosAreOfTheSameRoundAndThenTheirMedian) {
    const auto document = resultDocument({}, nlohmann::json::object(), threeRounds());
    const auto& tna = document["series"][1];
    // 3, 2, 5 and 0.75, 0.8, 1.0; the ratios of the medians would be 4 and 0.8.
    EXPECT_DOUBLE_EQ(tna["x_linux"]["median"], 3);
    EXPECT_DOUBLE_EQ(tna["x_linux"]["min"], 2);
    EXPECT_DOUBLE_EQ(tna["x_linux"]["max"], 5);
    EXPECT_DOUBLE_EQ(tna["x_ceiling"]["median"], 0.8);
    EXPECT_DOUBLE_EQ(tna["mpps"]["median"], 4);
    EXPECT_DOUBLE_EQ(tna["rounds"][1]["ns_per_frame"], 125);
}

TEST(BenchReport, TableShowsMedianSpreadAndExactAccount) {
    const auto table = renderTable(threeRounds());
    EXPECT_THAT(table, HasSubstr("0.80 (0.78-0.90)"));
    EXPECT_THAT(table, HasSubstr("3.00 (2.50-4.00)"));
    EXPECT_THAT(table, HasSubstr("4.00 (3.50-4.50)"));
    EXPECT_THAT(table, HasSubstr("    4000005     4000000         5 "));
}

TEST(BenchReport, HopIsWhatIsMoreThanGeneratorAndSink) {
    auto all = threeRounds();
    EXPECT_TRUE(resultDocument({}, nlohmann::json::object(), all)["series"][1]["hop_ns"].is_null());
    all.push_back(
        seriesOf("direct", {sampleOf(5'000'000, 0), sampleOf(5'000'000, 0), sampleOf(10'000'000, 0)}));
    const auto document = resultDocument({}, nlohmann::json::object(), all);
    // 0.5 s of 1, 2, 1 million frames; of 5, 5, 10 million: 500, 250, 500 ns, and 100, 100, 50
    EXPECT_DOUBLE_EQ(document["series"][0]["hop_ns"]["median"], 400);
    EXPECT_TRUE(document["series"][3]["hop_ns"].is_null());
}

TEST(BenchReport, RoundInWhichLinuxDidPartOfTheWorkIsFlagged) {
    auto all = threeRounds();
    EXPECT_THAT(remarks(all), IsEmpty());
    EXPECT_THAT(renderTable(all), Not(HasSubstr("!")));
    all[1].rounds[2].slow = 7;
    EXPECT_THAT(remarks(all), ElementsAre(HasSubstr("in 1 of 3 rounds not all was fast, 7 frames")));
    EXPECT_THAT(renderTable(all), HasSubstr(" !\n"));
    EXPECT_TRUE(resultDocument({}, nlohmann::json::object(), all)["series"][1]["rounds"][2]["suspect"]);
}

TEST(BenchReport, PartThatWasFastIsShownAndAFirewallsMayBeSlowNowAndThen) {
    auto all = threeRounds();
    for (auto& round : all[1].rounds) {
        round.slow = round.total.sent / 20;
        round.mayBeSlow = 0.1;
    }
    EXPECT_THAT(remarks(all), IsEmpty());
    EXPECT_THAT(renderTable(all), HasSubstr("  95.0 "));
    const auto document = resultDocument({}, nlohmann::json::object(), all);
    EXPECT_DOUBLE_EQ(document["series"][1]["fast"]["median"], 0.95);
    EXPECT_TRUE(document["series"][0]["fast"].is_null());
    all[1].rounds[0].slow = all[1].rounds[0].total.sent / 5;
    EXPECT_THAT(remarks(all), ElementsAre(HasSubstr("in 1 of 3 rounds not all was fast")));
}

TEST(BenchReport, ContenderThatFailedIsNotShownAsMeasured) {
    auto all = threeRounds();
    all[2].notMeasured = "it does not forward";
    EXPECT_THAT(renderTable(all), HasSubstr("ceiling      not measured: it does not forward"));
    EXPECT_TRUE(resultDocument({}, nlohmann::json::object(), all)["series"][1]["x_ceiling"].is_null());
}

TEST(BenchReport, ContenderThatFailedInALaterRoundCarriesNothingWithoutLoss) {
    std::vector<Rfc2544Series> all{{.contender = "linux", .rounds = {{.rate = 1e6}}},
                                   {.contender = "tna", .rounds = {{.rate = 3e6}}}};
    EXPECT_DOUBLE_EQ(rfc2544Document({}, {}, all)["series"][1]["x_linux"]["median"], 3);
    for (auto& series : all)
        series.notMeasured = "1 of 9 frames arrived changed";
    EXPECT_THAT(renderRfc2544(all), HasSubstr("tna          not measured: 1 of 9 frames arrived changed"));
    EXPECT_TRUE(rfc2544Document({}, {}, all)["series"][1]["x_linux"].is_null());
}

TEST(BenchReport, ContainersHaveRatiosOfTheSameRoundAndEveryValue) {
    const ContainersResult result{{{1, 2}, {8}, {4}}, {{3, 2}, {8}, {5}}, 0.5};
    const auto series = containersDocument({.docker = true}, {}, result)["series"];
    EXPECT_EQ(series[0]["contender"], "linux");
    EXPECT_DOUBLE_EQ(series[1]["x_linux"]["requests_per_second"]["max"], 3);
    EXPECT_DOUBLE_EQ(series[1]["x_linux"]["requests_per_second"]["min"], 1);
    EXPECT_DOUBLE_EQ(series[1]["rounds"][1]["requests_per_second"], 2);
    EXPECT_DOUBLE_EQ(series[1]["datagrams_per_second"]["median"], 5);
}

TEST(BenchTurns, EachContenderIsFirstAndLastAndNeighboursChangeSides) {
    EXPECT_THAT(turnsOfRound(3, 0), ElementsAre(0, 1, 2));
    EXPECT_THAT(turnsOfRound(3, 1), ElementsAre(2, 1, 0));
    EXPECT_THAT(turnsOfRound(3, 2), ElementsAre(1, 2, 0));
    EXPECT_THAT(turnsOfRound(3, 3), ElementsAre(0, 2, 1));
    EXPECT_THAT(turnsOfRound(3, 4), ElementsAre(2, 0, 1));
    EXPECT_THAT(turnsOfRound(0, 4), IsEmpty());
}

TEST(BenchTopology, EachQueueBelongsToItsCpu) {
    EXPECT_THAT(xpsMasks(2), ElementsAre("1", "2"));
    const auto many = xpsMasks(34);
    EXPECT_EQ(many[31], "80000000");
    EXPECT_EQ(many[33], "2,00000000");
}

} // namespace
} // namespace tna::bench
