// SPDX-License-Identifier: Apache-2.0
// Studies from end to end, as short as they can be. Nothing is asked about speed.
#include "base/file.hpp"
#include "in_folder.hpp"
#include "killed_program.hpp"
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

std::string whyNoStatistics() {
    return test::command({"/usr/bin/python3", "-c", "import scipy, seaborn, sklearn"}).exitCode == 0
               ? ""
               : "needs python3-sklearn, python3-scipy and python3-seaborn";
}

class Studies : public InFolder {
protected:
    void SetUp() override {
        InFolder::SetUp();
        if (IsSkipped())
            return;
        if (const auto why = whyNoStatistics(); !why.empty())
            GTEST_SKIP() << why;
    }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_->path() + "/" + name; }
    /// The document that a command writes, without the plan on standard error.
    nlohmann::json measured(const std::string& words) { return resultOf(words + " --json"); }
    nlohmann::json resultOf(const std::string& words) {
        const auto run =
            test::command({"sh", "-c", std::string{TNA_BENCH} + " " + words + " 2>" + file("errors")});
        EXPECT_EQ(run.exitCode, 0) << run.output << *readFile(file("errors"));
        return nlohmann::json::parse(run.output, nullptr, false);
    }
};

constexpr const char* shortDelays = "delays --intervals 0 --seconds 0.01 --rounds 1";

TEST_F(Studies, DelaysMeasureEveryCombinationAndYardstick) {
    const auto document = measured("delays --intervals 0.002,0 --seconds 0.01 --rounds 1");
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
    EXPECT_FALSE(document["analysis"]["recommended"]["line"].get<std::string>().empty());
    EXPECT_EQ(document["analysis"]["findings"].size(), 9U);
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

TEST_F(Studies, DelaysThatAreKilledAgainAndAgainGoOn) {
    const auto journal = file("journal");
    const auto linesOf = [&] {
        std::vector<std::string> lines;
        std::istringstream text{readFile(journal).value_or("")};
        for (std::string line; std::getline(text, line);)
            lines.push_back(line);
        return lines;
    };
    const std::vector<std::string> words{TNA_BENCH,  "delays", "--intervals", "0",     "--seconds", "0.05",
                                         "--rounds", "1",      "--journal",   journal, "--json"};
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
        // The last one may have been cut off.
        ASSERT_GE(lines.size(), 2U);
        known.insert(lines.begin() + 1, lines.end() - 1);
    }
    EXPECT_GE(known.size(), 4U);
    const auto whole = measured("delays --intervals 0 --seconds 0.05 --rounds 1 --journal " + journal);
    EXPECT_TRUE(whole["complete"]);
    const auto lines = linesOf();
    for (const auto& line : known)
        EXPECT_THAT(lines, ::testing::Contains(line));
    EXPECT_EQ(lines.size(), 1 + whole["series"].size() + whole["yardsticks"].size());
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
                                               "--seconds 0.02 --tnad "} +
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
        EXPECT_GT(run["offered"], 0U);
    }
    EXPECT_TRUE(document["analysis"]["correlations"].is_array());
}

/// Interfaces that are cabled: a veth pair of this machine stands in for both, or reaches into another.
class StudiesOfInterfaces : public Studies {
protected:
    void SetUp() override {
        Studies::SetUp();
        if (IsSkipped())
            return;
        here_.emplace();
        there_.emplace();
    }
    void cable(const test::Namespace& where) {
        test::must(fmt::format("ip -n {} link add nic0 type veth peer name nic1 netns {}", here_->name(),
                               where.name()));
        for (const auto& [name, device] : {std::pair{here_->name(), "nic0"}, {where.name(), "nic1"}}) {
            test::must(fmt::format("ip -n {} link set {} up", name, device));
            test::must(fmt::format("ip netns exec {} ethtool -K {} gro on", name, device));
        }
        EXPECT_TRUE(test::eventually([&] { return state(where).find("NO-CARRIER") == std::string::npos; }));
    }
    /// What could be different afterwards.
    static std::string state(const test::Namespace& where) {
        return test::command(
                   {"sh", "-c",
                    fmt::format(
                        "ip -n {0} -d link; ip -n {0} address; ip netns exec {0} sh -c 'cat "
                        "/sys/class/net/nic*/napi_defer_hard_irqs /sys/class/net/nic*/gro_flush_timeout'",
                        where.name())})
            .output;
    }
    nlohmann::json measuredHere(const std::string& words) {
        const auto inside = here_->enter();
        return measured(words);
    }
    /// [yardstick]: whether it was measured.
    static std::map<std::string, bool> yardsticksOf(const nlohmann::json& document) {
        std::map<std::string, bool> found;
        for (const auto& one : document["yardsticks"])
            for (const auto& run : one["runs"])
                found[one["name"]] = run["not_measured"].is_null() && run["sent"] > 0;
        return found;
    }
    std::optional<test::Namespace> here_;
    std::optional<test::Namespace> there_;
};

const std::map<std::string, bool> withoutAddresses{
    {"loop", true}, {"xdp_echo", true}, {"udp_echo", false}, {"ping", false}};

TEST_F(StudiesOfInterfaces, DelaysBetweenTwoOfThisMachine) {
    cable(*here_);
    const auto before = state(*here_);
    const auto document = measuredHere(std::string{shortDelays} + " --tx nic0 --rx nic1");
    for (const auto& one : document["series"])
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["sent"] > 0 && run["wrong"] == 0) << one.dump();
    EXPECT_EQ(yardsticksOf(document), withoutAddresses);
    EXPECT_EQ(state(*here_), before);
}

TEST_F(StudiesOfInterfaces, DelaysThroughAnotherMachineThatACommandMakesSendBack) {
    cable(*there_);
    const auto before = state(*there_);
    const auto document =
        measuredHere(fmt::format("{} --tx nic0 --dut 'ip netns exec {} {} delays --forward nic1 --on'",
                                 shortDelays, there_->name(), TNA_BENCH));
    for (const auto& one : document["series"])
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["sent"] > 0 && run["wrong"] == 0) << one.dump();
    EXPECT_THAT(document["missing"].dump(), HasSubstr("zero_copy"));
    EXPECT_EQ(yardsticksOf(document), withoutAddresses);
    EXPECT_EQ(state(*there_), before);
}

TEST_F(StudiesOfInterfaces, ACommandThatSendsNothingBackIsNamed) {
    cable(*there_);
    const auto inside = here_->enter();
    const auto run = test::command({TNA_BENCH, "delays", "--tx", "nic0", "--dut", "echo no such machine;"});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_THAT(run.output, HasSubstr("no such machine"));
    const auto word = test::command({TNA_BENCH, "delays", "--forward", "nic0", "--on", "zero_cpoy"});
    EXPECT_EQ(word.exitCode, 2);
    EXPECT_THAT(word.output, HasSubstr("'zero_cpoy' names no settings"));
}

TEST_F(StudiesOfInterfaces, TenantsOfThoseWhoDrop) {
    cable(*here_);
    const auto before = state(*here_);
    const auto document =
        measuredHere("tenants --tx nic0 --rx nic1 --subjects xdp,linux,bridge --tenants 0 --sizes 64 "
                     "--checksums 1 --rounds 2 --seconds 0.02 --tnad " TNAD);
    for (const auto& one : document["series"]) {
        if (one["subject"] == "bridge") {
            EXPECT_THAT(one["not_measured"].get<std::string>(), HasSubstr("between two cables"));
            continue;
        }
        ASSERT_EQ(one["runs"].size(), 2U) << one.dump();
        for (const auto& run : one["runs"])
            EXPECT_TRUE(run["not_measured"].is_null() && run["offered"] > 0 && run["handled"] > 0)
                << one.dump();
    }
    EXPECT_EQ(state(*here_), before);
}

} // namespace
} // namespace tna::bench
