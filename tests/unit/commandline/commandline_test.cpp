// SPDX-License-Identifier: Apache-2.0
// The programs, and command lines that nobody meant: one sentence that names the problem, the documented exit
// code, and an end.
#include "base/file.hpp"
#include "support/command.hpp"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <sys/stat.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const Words programs{TNACTL, TNA_BENCH, TNA_DIFF};
const Words all{TNAD, TNACTL, TNA_BENCH, TNA_DIFF};

/// Not for ever.
CommandResult run(const Words& words) {
    Words limited{"timeout", "--kill-after=1", "60"};
    limited.insert(limited.end(), words.begin(), words.end());
    return command(limited);
}

CommandResult shell(const std::string& words) {
    return run({"sh", "-c", words});
}

void expectSentence(const CommandResult& said, int exitCode, const std::string& part) {
    EXPECT_EQ(said.exitCode, exitCode) << said.output;
    EXPECT_THAT(said.output, HasSubstr(part));
    EXPECT_EQ(std::ranges::count(said.output, '\n'), 1) << "not one sentence:\n" << said.output;
    EXPECT_THAT(said.output, ::testing::Not(HasSubstr("please report")));
}

TEST(Output, ThatDoesNotArriveIsAFailure) {
    for (const auto& program : all)
        for (const auto* words : {"--version", "--help"})
            for (const auto* where : {">/dev/full", ">&-"})
                expectSentence(shell(program + " " + words + " " + where), 1,
                               "cannot write to standard output");
    EXPECT_EQ(shell(std::string(TNACTL) + " --version >/dev/null").exitCode, 0);
}

TEST(Commands, ThatThereAreNotAreNamed) {
    for (const auto& program : programs) {
        expectSentence(run({program, "nope"}), 2, "there is no command 'nope'");
        expectSentence(run({program}), 2, "needs a command");
        expectSentence(run({program, "--nope"}), 2, "there is no option '--nope'");
        expectSentence(run({program, "\x1b[31m"}), 2, "'\\x1b[31m'");
    }
    expectSentence(run({TNACTL, "stats"}), 2, "did you mean 'status'?");
    expectSentence(run({TNA_BENCH, "troughput"}), 2, "did you mean 'throughput'?");
}

/// Subcommand and option of each number that --help shows.
std::vector<std::pair<Words, std::string>> numbersOf(const std::string& program) {
    static const std::regex subcommand("\n  ([a-z0-9]+) "), number("\n  (--[a-z-]+)[^ ]* (?:U?INT|FLOAT)");
    std::vector<std::pair<Words, std::string>> found;
    const auto help = run({program, "--help"}).output;
    const auto list = help.substr(std::min(help.find("Subcommands:"), help.size()));
    for (std::sregex_iterator it(list.begin(), list.end(), subcommand), end; it != end; ++it) {
        const auto options = run({program, (*it)[1], "--help"}).output;
        for (std::sregex_iterator one(options.begin(), options.end(), number); one != end; ++one)
            found.emplace_back(Words{program, (*it)[1]}, (*one)[1]);
    }
    return found;
}

TEST(Numbers, AreNumbers) {
    std::size_t tried = 0;
    for (const auto& program : programs)
        for (const auto& [words, option] : numbersOf(program))
            for (const auto* value : {"nan", "inf", "-1", "", "1e999", "99999999999999999999", "x", " 1"}) {
                auto wrong = words;
                wrong.insert(wrong.end(), {option, value});
                SCOPED_TRACE(words.back() + " " + option + " '" + value + "'");
                expectSentence(run(wrong), 2, "must be a ");
                tried++;
            }
    EXPECT_GT(tried, 300U) << "does --help look otherwise?";
}

TEST(Words, ThatAreEmptyAreRefused) {
    const std::vector<Words> wrong{{TNACTL, "--socket", "", "status"},
                                   {TNACTL, "--namespace", "", "status"},
                                   {TNACTL, "explain", ""},
                                   {TNACTL, "trace", "--port", ""},
                                   {TNACTL, "trace", "--pcap", ""},
                                   {TNA_DIFF, "run", ""},
                                   {TNA_DIFF, "random", "--folder", ""},
                                   {TNA_BENCH, "throughput", "--tnad", ""},
                                   {TNA_BENCH, "repeat", ""}};
    for (const auto& words : wrong)
        expectSentence(run(words), 2, "is empty");
    expectSentence(run({TNA_DIFF, "random", "--fdb", "none"}), 2, "--fdb");
}

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-files-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        ASSERT_TRUE(writeFile(folder_ + "/script", "ip link set p0 up\n"));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string folder_;
};

TEST_F(Files, WithoutAnEndAreRefused) {
    const std::vector<Words> readers{{TNA_DIFF, "run"},
                                     {TNA_DIFF, "run", folder_ + "/script", "--packets"},
                                     {TNACTL, "module", "insert"},
                                     {TNA_BENCH, "repeat"},
                                     {TNA_BENCH, "micro", "--frames", "0", "--budgets"}};
    for (const auto& reader : readers)
        for (const auto* file : {"/dev/zero", "/dev/urandom", "/dev/null"}) {
            auto words = reader;
            words.emplace_back(file);
            expectSentence(run(words), 2, std::string(file) + " is no file, but a device");
        }
}

TEST_F(Files, PipesThatNobodyWritesToAreGivenUp) {
    ASSERT_EQ(::mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
    expectSentence(run({TNA_DIFF, "run", folder_ + "/fifo"}), 2, "nothing comes out of");
}

TEST_F(Files, ThatAreNoScriptsAreNotRun) {
    ASSERT_TRUE(writeFile(folder_ + "/text", "# A title\n\ntouch " + folder_ + "/made\n"));
    expectSentence(run({TNA_DIFF, "run", folder_ + "/text"}), 2, "this is no script: line 3");
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/made"));
    expectSentence(run({TNA_DIFF, "run", TNA_SOURCE_DIR "/README.md"}), 2, "this is no script");
    expectSentence(run({TNA_DIFF, "run", "/bin/sh"}), 2, "no plain text");
    expectSentence(run({TNA_DIFF, "run", "/etc"}), 2, "/etc/script");
    expectSentence(run({TNA_DIFF, "run", folder_ + "/script", "--packets", folder_ + "/script"}), 2, "pcap");
}

} // namespace
} // namespace tna::test
