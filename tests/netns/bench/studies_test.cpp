// SPDX-License-Identifier: Apache-2.0
// Studies from end to end, as short as they can be. Nothing is asked about speed.
#include "base/file.hpp"
#include "functions/declaration.hpp"
#include "killed_program.hpp"
#include "studies.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

constexpr const char* shortDelays = "delays --intervals 0 --seconds 0.1 --rounds 1";

TEST_F(Studies, DelaysMeasureEveryCombinationAndYardstick) {
    const auto document = measured("delays --intervals 0.002,0 --seconds 0.1 --rounds 1");
    ASSERT_TRUE(document.is_object());
    EXPECT_TRUE(document["complete"]);
    std::size_t combinations = 2; // intervals
    for (std::size_t known = 8 - document["missing"].size(); known > 0; known--)
        combinations *= 2;
    EXPECT_EQ(document["series"].size(), combinations + 2);
    std::vector<nlohmann::json> all = document["series"];
    all.insert(all.end(), document["yardsticks"].begin(), document["yardsticks"].end());
    EXPECT_EQ(document["yardsticks"].size(), 8U);
    for (const auto& one : all) {
        ASSERT_EQ(one["runs"].size(), 1U);
        const auto& run = one["runs"][0];
        ASSERT_TRUE(run["not_measured"].is_null()) << one.dump();
        EXPECT_GT(run["sent"], 0U) << one.dump();
        EXPECT_EQ(run["wrong"], 0U) << one.dump();
        EXPECT_LE(run["min_ns"], run["median_ns"]);
    }
    // A veth takes no zero-copy sockets: that is told, not left out.
    EXPECT_THAT(document["missing"].dump(), HasSubstr("zero_copy"));
    const auto line = document["analysis"]["recommended"]["line"].get<std::string>();
    const auto declared =
        functions::parseDeclaration("ports = [\"eth0\"]\n" + line + "\n[[rule]]\n", "it", "it.toml");
    EXPECT_TRUE(declared) << declared.error().sentence();
    EXPECT_EQ(document["analysis"]["findings"].size(), 13U);
}

TEST_F(Studies, DelaysGoOnWhereTheyWereEnded) {
    const auto journal = file("journal");
    const auto words = std::string{shortDelays} + " --journal " + journal;
    const auto whole = measured(words);
    ASSERT_TRUE(whole.is_object());
    // As if it had been killed in the middle, while it wrote.
    auto text = *readFile(journal);
    const auto cut = text.find('\n', text.size() / 2) + 20;
    std::filesystem::resize_file(journal, cut);
    const auto kept = std::ranges::count(text.substr(0, cut), '\n') - 1;
    ASSERT_GT(kept, 0);
    const auto again = measured(words);
    std::ptrdiff_t same = 0;
    for (std::size_t i = 0; i < whole["series"].size(); i++)
        same += whole["series"][i] == again["series"][i] ? 1 : 0;
    for (std::size_t i = 0; i < whole["yardsticks"].size(); i++)
        same += whole["yardsticks"][i] == again["yardsticks"][i] ? 1 : 0;
    EXPECT_EQ(same, kept) << "what the journal had was not measured again, the rest was";
    EXPECT_TRUE(again["complete"]);
    ASSERT_TRUE(writeFile(file("result.json"), again.dump()));
    const auto before = *readFile(journal);
    const auto repeated = resultOf("repeat " + file("result.json"));
    EXPECT_EQ(repeated["options"], again["options"]);
    EXPECT_NE(repeated["series"], again["series"]) << "measured, not read";
    EXPECT_EQ(*readFile(journal), before);
    const auto other = test::command({TNA_BENCH, "delays", "--rounds", "2", "--journal", journal});
    EXPECT_EQ(other.exitCode, 2);
    EXPECT_THAT(other.output, HasSubstr("is not a journal of the same measurements"));
}

class KilledStudies : public Studies, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledStudies, GoOnWhereTheyWere) {
    const auto journal = file("journal");
    const auto linesOf = [&] {
        std::vector<std::string> lines;
        std::istringstream text{readFile(journal).value_or("")};
        for (std::string line; std::getline(text, line);)
            lines.push_back(line);
        return lines;
    };
    std::vector<std::string> words{TNA_BENCH};
    std::istringstream list{GetParam()};
    for (std::string word; list >> word;)
        words.push_back(word);
    words.insert(words.end(), {"--journal", journal});
    std::set<std::string> known;
    for (unsigned turn = 0; turn < 4; turn++) {
        const auto before = linesOf().size();
        KilledProgram program{words};
        // At any moment: while it prepares, measures or writes.
        ASSERT_TRUE(test::eventually([&] {
            return linesOf().size() > std::max<std::size_t>(before, 1) + turn;
        })) << "turn "
            << turn;
        program.kill(true, true);
        const auto lines = linesOf();
        for (const auto& line : known)
            EXPECT_THAT(lines, ::testing::Contains(line)) << "what was measured is kept";
        ASSERT_GE(lines.size(), 2U);
        // The last one may have been cut off.
        known.insert(lines.begin() + 1, lines.end() - 1);
    }
    EXPECT_GE(known.size(), 4U);
    const auto whole = measured(GetParam() + std::string{" --journal "} + journal);
    EXPECT_TRUE(whole["complete"]);
    const auto lines = linesOf();
    for (const auto& line : known)
        EXPECT_THAT(lines, ::testing::Contains(line));
    std::size_t runs = 0;
    for (const char* part : {"series", "yardsticks"})
        if (whole.contains(part))
            for (const auto& one : whole[part])
                runs += one["runs"].size();
    EXPECT_EQ(lines.size(), 1 + runs);
    EXPECT_FALSE(std::filesystem::exists(journal + ".new"));
}

INSTANTIATE_TEST_SUITE_P(
    Each, KilledStudies,
    ::testing::Values("delays --intervals 0 --seconds 0.05 --rounds 1",
                      "tenants --subjects xdp,linux --burdens cpu --tenants 0,2 --sizes 64 --checksums 1 "
                      "--rounds 4 --seconds 0.05 --tnad " TNAD),
    [](const auto& words) { return std::string{words.param}.substr(0, 6); });

TEST_F(Studies, TenantsAreRepeatedAndReported) {
    const auto document =
        measured("tenants --subjects xdp --burdens cpu --tenants 0,2 --sizes 64 --checksums 1 --rounds 2 "
                 "--seconds 0.05 --tnad " TNAD);
    ASSERT_TRUE(document["complete"]);
    ASSERT_TRUE(writeFile(file("result.json"), document.dump()));
    const auto repeated = resultOf("repeat " + file("result.json"));
    EXPECT_EQ(repeated["options"], document["options"]);
    EXPECT_NE(repeated["series"], document["series"]) << "measured, not read";
    const auto report =
        test::command({TNA_BENCH, "report", file("result.json"), "--output", file("page.html")});
    EXPECT_EQ(report.exitCode, 0) << report.output;
    EXPECT_THAT(*readFile(file("page.html")), HasSubstr("<svg"));
}

TEST_F(Studies, APlanIsToldAndNothingIsMeasured) {
    for (const char* study : {"delays", "tenants"}) {
        const auto run = test::command({TNA_BENCH, study, "--paper", "--plan"});
        EXPECT_EQ(run.exitCode, 0) << run.output;
        EXPECT_THAT(run.output, HasSubstr("of 30 s, about "));
        EXPECT_THAT(run.output, HasSubstr(" h "));
    }
}

TEST_F(Studies, TenantsMeasureEverySubjectBesideEveryBurden) {
    const auto document = measured(std::string{"tenants --tenants 0,2 --sizes 64 --checksums 1 --rounds 1 "
                                               "--seconds 0.05 --tnad "} +
                                   TNAD);
    ASSERT_TRUE(document.is_object());
    EXPECT_TRUE(document["complete"]);
    EXPECT_EQ(document["series"].size(), 8 * (2 + 3 - document["missing"].size()));
    for (const auto& one : document["series"]) {
        // What needs DPDK may be missing, and says so.
        if (!one["not_measured"].is_null()) {
            EXPECT_THAT(one["subject"].get<std::string>(), HasSubstr("dpdk")) << one.dump();
            EXPECT_TRUE(one["runs"].empty());
            continue;
        }
        ASSERT_EQ(one["runs"].size(), 1U);
        const auto& run = one["runs"][0];
        ASSERT_TRUE(run["not_measured"].is_null()) << one.dump();
        EXPECT_EQ(run["running"], one["tenants"]) << one.dump();
        EXPECT_GT(run["offered"], 0U) << one.dump();
    }
    EXPECT_TRUE(document["analysis"]["correlations"].is_array());
}

} // namespace
} // namespace tna::bench
