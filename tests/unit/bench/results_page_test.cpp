// SPDX-License-Identifier: Apache-2.0
// Every field of every result file stands on the page that explains them.
#include "base/file.hpp"
#include "bench/delays/delays.hpp"
#include "bench/delays/yardsticks.hpp"
#include "bench/functions/study.hpp"
#include "bench/measure/change.hpp"
#include "bench/measure/containers.hpp"
#include "bench/measure/kill.hpp"
#include "bench/measure/latency_report.hpp"
#include "bench/measure/micro.hpp"
#include "bench/measure/reaction.hpp"
#include "bench/measure/rfc2544.hpp"
#include "bench/measure/throughput_report.hpp"
#include "bench/results/document.hpp"
#include "bench/tenants/study.hpp"

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

nlohmann::json delays(const nlohmann::json& machine) {
    DelaysResult result;
    result.plan = planDelays({}, {{Knob::zeroCopy, "no"}});
    Delays one;
    one.nanoseconds = {1};
    one.sent = 1;
    auto run = delaysDocument(one);
    run["not_measured"] = nullptr;
    result.runs.assign(result.plan.settings.size() + 1 + yardsticks.size(),
                       std::vector<nlohmann::json>(3, {run}));
    auto document = delaysStudyDocument({}, machine, result);
    document["analysis"] = nullptr;
    return document;
}

nlohmann::json functions(const nlohmann::json& machine) {
    FunctionsResult result{.plan = planFunctions({})};
    const nlohmann::json full{{"mpps", 1}, {"offered_mpps", 1}, {"loss", 0},
                              {"user", 1}, {"system", 1},       {"softirq", 1}};
    result.runs.assign(result.plan.series.size(),
                       {{{"not_measured", nullptr},
                         {"full", full},
                         {"rfc2544", {{"mpps", 1}, {"throttled", false}, {"trials", 1}}}}});
    auto document = functionsDocument({}, machine, result);
    document["contestants"] = nullptr; // whose names are values
    document["analysis"] = nullptr;
    return document;
}

nlohmann::json tenants(const nlohmann::json& machine) {
    TenantsResult result;
    result.plan.cases = {{"xdp", 64, 1}};
    result.plan.neighbours = {{}};
    result.notMeasured = {""};
    result.runs = {{{tenantsRun({.seconds = 1, .offered = 2, .handled = 1}, 0)}}};
    auto document = tenantsDocument({}, machine, result);
    document["analysis"] = nullptr;
    return document;
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
    return {resultDocument({}, machine, {series}),
            rfc2544Document({}, machine, rates),
            latencyDocument({}, machine, latency),
            changeDocument({}, machine, {change}),
            containersDocument({}, machine, {{{1}, {1}, {1}}, {{1}, {1}, {1}}}),
            microDocument({}, machine, {row, row}),
            killDocument({}, machine, std::vector<KillRound>(1)),
            reactionDocument({}, machine, reaction),
            delays(machine),
            tenants(machine),
            functions(machine)};
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
