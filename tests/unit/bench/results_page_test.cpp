// SPDX-License-Identifier: Apache-2.0
// Every field of every result file stands on the page that explains them.
#include "base/file.hpp"
#include "bench/measure/change.hpp"
#include "bench/measure/kill.hpp"
#include "bench/measure/latency_report.hpp"
#include "bench/measure/micro.hpp"
#include "bench/measure/reaction.hpp"
#include "bench/measure/rfc2544.hpp"
#include "bench/measure/throughput_report.hpp"
#include "bench/results/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

void collect(const nlohmann::json& value, std::set<std::string>& names) {
    if (value.is_object())
        for (const auto& [name, inner] : value.items()) {
            names.insert(name);
            if (name != "mitigations") // whose names are the kernel's
                collect(inner, names);
        }
    else if (value.is_array())
        for (const auto& inner : value)
            collect(inner, names);
}

std::vector<nlohmann::json> documents() {
    const auto machine = describeMachine();
    Sample sample{.seconds = 1, .received = 1};
    sample.hardware = Hardware{1, 1, 1};
    const Series series{.contender = "tna", .rounds = {sample}, .devices = {{.name = "g0"}}};
    const std::vector<Rfc2544Series> rates{
        {.contender = "tna", .rounds = {{.rate = 1, .trials = {{.rate = 1}}}}}};
    LatencyResult latency;
    latency.series.push_back({.contender = "tna"});
    const ChangeSeries change{.contender = "tna", .closed = {1}, .opened = {1}};
    const MicroRow row{.profile = "bridge", .nanoseconds = {1}};
    Reaction reaction;
    reaction.startUp = reaction.reactions = {1};
    return {resultDocument({}, machine, {series}),  rfc2544Document({}, machine, rates),
            latencyDocument({}, machine, latency),  changeDocument({}, machine, {change}),
            microDocument({}, machine, {row, row}), killDocument({}, machine, std::vector<KillRound>(1)),
            reactionDocument({}, machine, reaction)};
}

TEST(BenchResults, PageNamesEveryFieldAndVersion) {
    const auto page = readFile(RESULTS_PAGE);
    ASSERT_TRUE(page) << page.error().sentence();
    for (const auto& document : documents()) {
        std::set<std::string> names;
        collect(document, names);
        EXPECT_GT(names.size(), 10U);
        for (const auto& name : names)
            EXPECT_THAT(*page, HasSubstr("`" + name + "`")) << document["command"];
        EXPECT_THAT(*page, HasSubstr("\n## " + document["command"].get<std::string>() + " (version " +
                                     std::to_string(document["version"].get<int>()) + ")\n"));
    }
}

} // namespace
} // namespace tna::bench
