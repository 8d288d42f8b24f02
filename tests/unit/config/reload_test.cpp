// SPDX-License-Identifier: Apache-2.0
#include "config/reload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::config {
namespace {

Config parsed(const std::string& text) {
    const auto config = parseConfig(text, "f");
    EXPECT_TRUE(config) << config.error().sentence();
    return config.value_or(Config{});
}

TEST(Reload, WhatIsForTheStartOnlyStaysAndIsNamed) {
    const std::pair<const char*, const char*> settings[] = {
        {"kernel.fdb", "'mirror'"},       {"kernel.refresh", "10"},
        {"kernel.self_check", "0"},       {"daemon.socket", "'/tmp/s'"},
        {"daemon.socket_group", "'net'"}, {"daemon.change_group", "'ops'"},
        {"daemon.log_level", "'debug'"},  {"metrics.listen", "'127.0.0.1:9472'"},
        {"limits.max_ports", "16"},       {"limits.flows_per_cpu", "128"},
        {"limits.max_stations", "100"},   {"limits.many_routes", "10"},
        {"limits.destinations", "4000"},  {"limits.connections", "0"},
    };
    for (const auto& [name, value] : settings) {
        const auto result = reloaded({}, parsed(fmt::format("{} = {}\n", name, value)));
        EXPECT_EQ(result.config, Config{}) << name;
        EXPECT_EQ(result.atNextStart, std::vector<std::string>{name});
    }
    EXPECT_THAT(reloaded({}, {}).atNextStart, ::testing::IsEmpty());
}

TEST(Reload, OtherSettingsHoldAtOnce) {
    const auto fresh = parsed("[ports]\ninclude = ['eth*']\ntcx = ['eth8']\n[modules]\ndirectory = '/m'\n"
                              "[functions]\ndirectory = '/f'\n");
    const auto result = reloaded({}, fresh);
    EXPECT_EQ(result.config, fresh);
    EXPECT_THAT(result.atNextStart, ::testing::IsEmpty());
}

} // namespace
} // namespace tna::config
