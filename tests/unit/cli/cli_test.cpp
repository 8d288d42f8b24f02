// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line is said by name.
#include "cli/checks.hpp"
#include "cli/near.hpp"
#include "cli/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string problem(const CLI::Validator& check, std::string word) {
    return check(word);
}

TEST(Number, TakesWhatPeopleWrite) {
    for (const auto* word : {"0", "0.5", "5e-1", "10", ".5"})
        EXPECT_EQ(problem(number(0, 10), word), "") << word;
    for (const auto* word : {"0", "7", "10"})
        EXPECT_EQ(problem(wholeNumber(0, 10), word), "") << word;
}

TEST(Number, RefusesWhatIsNoneOrOutOfBounds) {
    for (const auto* word : {"nan", "inf", "-inf", "-1", "1e999", "99999999999999999999", "", " 1", "1 ",
                             "1x", "x", "0x1", "+1", "--1"}) {
        EXPECT_THAT(problem(number(0, 10), word), HasSubstr("must be a number from 0 to 10, not '")) << word;
        EXPECT_THAT(problem(wholeNumber(0, 10), word),
                    HasSubstr("must be a whole number from 0 to 10, not '"))
            << word;
    }
    EXPECT_THAT(problem(wholeNumber(0, 10), "1.5"), HasSubstr("'1.5'"));
    EXPECT_THAT(problem(wholeNumber(3, 10), "2"), HasSubstr("from 3 to 10"));
    EXPECT_THAT(problem(number(0.5, 10), "0.4"), HasSubstr("from 0.5 to 10"));
}

TEST(Near, IsWhatOneHasMistyped) {
    const std::vector<std::string> known{"status", "top", "explain", "trace", "eth0", "eth1"};
    EXPECT_THAT(nearWords("stats", known), ElementsAre("status"));
    EXPECT_THAT(nearWords("explian", known), ElementsAre("explain"));
    EXPECT_THAT(nearWords("ex", known), ElementsAre("explain"));
    EXPECT_THAT(nearWords("eth", known), ElementsAre("eth0", "eth1"));
    EXPECT_THAT(nearWords("xyz", known), IsEmpty());
    EXPECT_THAT(nearWords("", known), IsEmpty());
    EXPECT_THAT(nearWords(std::string(100000, 'a'), known), IsEmpty());
    EXPECT_EQ(guess("eth", known), "did you mean 'eth0' or 'eth1'?");
    EXPECT_EQ(guess("nothing", known), "");
}

class Refusal : public ::testing::Test {
protected:
    Refusal() {
        app_.require_subcommand(1);
        app_.add_flag("--json", flag_, "");
        app_.add_subcommand("status", "")->fallthrough();
        auto* module = app_.add_subcommand("module", "")->fallthrough();
        module->require_subcommand(1);
        auto* insert = module->add_subcommand("insert", "")->fallthrough();
        insert->add_option("--port", port_, "");
        insert->add_option("--at", port_, "")->check(CLI::IsMember({"ingress", "egress"}));
        refuseEmptyWords(app_);
    }
    std::string refused(std::vector<std::string> words) {
        std::ranges::reverse(words);
        try {
            app_.parse(words);
        } catch (const CLI::ParseError& error) {
            const auto said = refusal(app_, error, "tool");
            EXPECT_EQ(said.code, ExitCode::usage);
            return said.sentence();
        }
        return "taken";
    }
    CLI::App app_;
    bool flag_ = false;
    std::string port_;
};

TEST_F(Refusal, NamesTheCommandThatThereIsNot) {
    EXPECT_EQ(refused({"foo"}), "there is no command 'foo' of `tool` (the commands are status, module. "
                                "`tool --help` shows the usage)");
    EXPECT_THAT(refused({"stauts", "--json"}), HasSubstr("'stauts' of `tool` (did you mean 'status'?"));
    EXPECT_THAT(refused({"module", "insrt"}), HasSubstr("'insrt' of `tool module` (did you mean 'insert'?"));
    EXPECT_THAT(refused({}), HasSubstr("`tool` needs a command (the commands are status, module."));
    EXPECT_THAT(refused({"module"}), HasSubstr("`tool module` needs a command (the commands are insert."));
}

TEST_F(Refusal, NamesTheOptionThatThereIsNot) {
    EXPECT_THAT(refused({"status", "--jsno"}),
                HasSubstr("no option '--jsno' of `tool status` (did you mean '--json'?"));
    EXPECT_THAT(refused({"module", "insert", "--prot=x"}),
                HasSubstr("no option '--prot' of `tool module insert` (did you mean '--port'?"));
    EXPECT_THAT(refused({"status", "extra"}), HasSubstr("`tool status` takes no 'extra'"));
}

TEST_F(Refusal, SaysWhichValuesThereAre) {
    EXPECT_THAT(refused({"module", "insert", "--at", "igress"}),
                HasSubstr("--at: must be one of ingress, egress, not 'igress' (did you mean "));
    EXPECT_THAT(refused({"module", "insert", "--at", "x"}),
                HasSubstr("not 'x' (`tool module insert --help` shows the usage)"));
    EXPECT_THAT(refused({"module", "insert", "--port"}), HasSubstr("--port needs a value (`tool"));
}

TEST_F(Refusal, EmptyWordsAreNone) {
    EXPECT_THAT(refused({"module", "insert", "--port", ""}), HasSubstr("--port: is empty"));
    EXPECT_EQ(refused({"module", "insert", "--port", "x"}), "taken");
}

} // namespace
} // namespace tna::cli
