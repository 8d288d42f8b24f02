// SPDX-License-Identifier: Apache-2.0
#include "api/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

nlohmann::json port(const std::string& name) {
    return {{"name", name},
            {"state", "accelerated"},
            {"fast_packets", 10},
            {"fast_bytes", 1000},
            {"fast_out_packets", 20},
            {"fast_out_bytes", std::uint64_t{1} << 60U},
            {"slow_reasons", {{"capture", 3}, {"multicast", 4}}}};
}

nlohmann::json status(const std::vector<std::string>& ports) {
    nlohmann::json document{
        {"version", "1.2.3"},
        {"fdb", "in place"},
        {"uptime_s", 7},
        {"ports", nlohmann::json::array()},
        {"events", {{"swaps", 5}, {"last_swap_us", 1500}, {"failures", 1}, {"fdb_readings", 2}}}};
    for (const auto& name : ports)
        document["ports"].push_back(port(name));
    return document;
}

TEST(Metrics, TellEachPortsCountersAndReasons) {
    const auto text = api::metrics(status({"p0", "p1"}));
    for (const char* line :
         {"\ntna_info{version=\"1.2.3\",fdb=\"in place\"} 1\n", "\ntna_uptime_seconds 7\n",
          "\ntna_profile_swaps_total 5\n", "\ntna_last_profile_swap_seconds 0.0015\n",
          "\ntna_failures_total 1\n", "\ntna_fdb_readings_total 2\n",
          "\ntna_port_state{port=\"p0\",state=\"accelerated\"} 1\n",
          "\ntna_port_state{port=\"p0\",state=\"linux\"} 0\n",
          "\ntna_port_fast_packets_total{port=\"p1\",direction=\"in\"} 10\n",
          "\ntna_port_fast_packets_total{port=\"p1\",direction=\"out\"} 20\n",
          "\ntna_port_fast_bytes_total{port=\"p0\",direction=\"out\"} 1152921504606846976\n",
          "\ntna_port_slow_packets_total{port=\"p1\",reason=\"capture\"} 3\n",
          "\ntna_port_slow_packets_total{port=\"p1\",reason=\"multicast\"} 4\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, TellWhatFunctionsGot) {
    auto document = status({"p0"});
    document["functions"] = {
        {{"name", "dns"}, {"state", "full"}, {"packets", 5}, {"bytes", 300}, {"otherwise", 2}}};
    const auto text = api::metrics(document);
    for (const char* line : {"\ntna_function_state{function=\"dns\",state=\"full\"} 1\n",
                             "\ntna_function_state{function=\"dns\",state=\"nobody\"} 0\n",
                             "\ntna_function_packets_total{function=\"dns\",to=\"function\"} 5\n",
                             "\ntna_function_packets_total{function=\"dns\",to=\"otherwise\"} 2\n",
                             "\ntna_function_bytes_total{function=\"dns\"} 300\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

/// The format's grammar, line by line: a sample belongs to the metric that was described last.
TEST(Metrics, AreWellFormed) {
    std::istringstream lines{api::metrics(status({"p0", "a\"b\\c\nd"}))};
    const std::regex sample{
        R"re(([a-z_]+)(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+)re"};
    std::string described;
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, match, std::regex{"# TYPE ([a-z_]+) (gauge|counter)"})) {
            EXPECT_EQ(match[2] == "counter", match[1].str().ends_with("_total")) << line;
            EXPECT_EQ(match[1], described);
        } else if (std::regex_match(line, match, std::regex{"# HELP ([a-z_]+) [A-Z].*\\."})) {
            EXPECT_NE(match[1], described) << "described twice";
            described = match[1];
        } else {
            ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
            EXPECT_EQ(match[1], described);
        }
    }
    EXPECT_EQ(described, "tna_port_slow_packets_total");
}

} // namespace
} // namespace tna::test
