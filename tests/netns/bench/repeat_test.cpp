// SPDX-License-Identifier: Apache-2.0
// The program itself: every frame is accounted for in its document, and the document is enough to measure the
// same again. Nothing is asked about speed.
#include "base/file.hpp"
#include "in_folder.hpp"
#include "support/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

class Repeat : public InFolder {
protected:
    static nlohmann::json measured(std::vector<std::string> words) {
        words.insert(words.begin(), TNA_BENCH);
        const auto run = test::command(words);
        EXPECT_EQ(run.exitCode, 0) << run.output;
        // Remarks may follow on standard error.
        return nlohmann::json::parse(run.output.substr(0, run.output.rfind("\n}") + 2), nullptr, false);
    }
    void refused(const std::string& content, const std::string& words) {
        const auto file = folder_->path() + "/result.json";
        ASSERT_TRUE(writeFile(file, content));
        const auto run = test::command({TNA_BENCH, "repeat", file});
        EXPECT_EQ(run.exitCode, 1);
        EXPECT_THAT(run.output, HasSubstr(words));
    }
};

TEST_F(Repeat, EveryFrameIsAccountedForAndTheSameIsMeasuredAgain) {
    const auto first = measured({"throughput", "--json", "--tnad", TNAD, "--contender", "linux,tna,ceiling",
                                 "--cpus", "1", "--stations", "3", "--sizes", "100,imix", "--rounds", "2",
                                 "--seconds", "0.02", "--reverse", "2000"});
    ASSERT_TRUE(first.is_object());
    ASSERT_EQ(first["series"].size(), 6U);
    for (const auto& series : first["series"]) {
        EXPECT_TRUE(series["not_measured"].is_null()) << series["not_measured"];
        ASSERT_EQ(series["rounds"].size(), 2U);
        for (const auto& round : series["rounds"]) {
            const auto count = [&](const char* name) { return round[name].get<std::uint64_t>(); };
            EXPECT_GT(count("received"), 0U);
            EXPECT_EQ(count("sent"), count("received") + count("lost"));
            EXPECT_GE(count("received"), count("received_in_time"));
            EXPECT_EQ(count("twice"), 0U) << series["contender"];
            EXPECT_GE(count("sent_back"), count("received_back"));
        }
    }
    const auto file = folder_->path() + "/first.json";
    ASSERT_TRUE(writeFile(file, first.dump()));
    const auto again = measured({"repeat", file});
    EXPECT_EQ(again["options"], first["options"]);
    EXPECT_EQ(again["arguments"], first["arguments"]);
    EXPECT_EQ(again["series"].size(), first["series"].size());
}

/// Of every command that writes one; with an option that there is not, so that nothing is measured.
TEST_F(Repeat, TakesTheFilesOfAllCommands) {
    const auto file = folder_->path() + "/result.json";
    const auto overview = test::command({TNA_BENCH, "--help"}).output;
    const std::regex word("\n  ([a-z0-9]+) {3,}");
    unsigned commands = 0;
    for (auto match = std::sregex_iterator(overview.begin(), overview.end(), word);
         match != std::sregex_iterator(); ++match) {
        const auto command = (*match)[1].str();
        if (test::command({TNA_BENCH, command, "--help"}).output.find("\n  --json ") == std::string::npos)
            continue;
        commands++;
        const nlohmann::json result{{"command", command}, {"arguments", {command, "--colour", "red"}}};
        ASSERT_TRUE(writeFile(file, result.dump()));
        const auto run = test::command({TNA_BENCH, "repeat", file});
        EXPECT_EQ(run.exitCode, 2) << run.output;
        EXPECT_THAT(run.output, HasSubstr("--colour"));
    }
    EXPECT_GE(commands, 11U) << overview;
}

TEST_F(Repeat, WhatIsNoResultIsRefused) {
    refused("{", "is no whole result file");
    refused("[]", "is no result of tna-bench");
    refused(R"({"command": "report"})", "is no result of tna-bench");
    refused(R"({"command": 7})", "is no result of tna-bench");
    refused(R"({"command": "throughput", "version": 3})", "is of an older version");
    refused(R"({"command": "throughput", "arguments": []})", "is damaged");
    refused(R"({"command": "throughput", "arguments": ["throughput", 3]})", "is damaged");
    refused(R"({"command": "throughput", "arguments": ["kill"]})", "is damaged");
    const auto file = folder_->path() + "/other.json";
    ASSERT_TRUE(
        writeFile(file, R"({"command": "throughput", "arguments": ["throughput", "--colour", "red"]})"));
    EXPECT_EQ(test::command({TNA_BENCH, "repeat", file}).exitCode, 2) << "of a version with another option";
    const auto missing = test::command({TNA_BENCH, "repeat", "/nonexistent"});
    EXPECT_EQ(missing.exitCode, 2);
    EXPECT_THAT(missing.output, HasSubstr("/nonexistent"));
}

} // namespace
} // namespace tna::bench
