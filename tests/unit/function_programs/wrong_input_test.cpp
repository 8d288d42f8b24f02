// SPDX-License-Identifier: Apache-2.0
// What the programs say to command lines and files that nobody meant: one sentence with the next step.
#include "base/file.hpp"
#include "support/command.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Wrong {
    Words words;
    const char* said;
    int exitCode = 2;
};

class FunctionPrograms : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-programs-XXXXXX";
        folder_ = ::mkdtemp(pattern);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    /// None of them waits for tnad.
    void expect(const Wrong& wrong) const {
        Words limited{"timeout", "--kill-after=1", "60"};
        limited.insert(limited.end(), wrong.words.begin(), wrong.words.end());
        const auto said = command(limited);
        EXPECT_EQ(said.exitCode, wrong.exitCode) << said.output;
        EXPECT_THAT(said.output, HasSubstr(wrong.said));
        EXPECT_EQ(std::ranges::count(said.output, '\n'), 1) << "not one sentence:\n" << said.output;
    }
    std::string folder_;
};

TEST_F(FunctionPrograms, CommandLinesThatAreWrongAreAnswered) {
    const std::string longName(32, 'n'), longSocket(108, 's'), n = "n", pool = "--pool", one = "192.0.2.1";
    const std::vector<Wrong> all{
        {{NAT64}, "NAME is required (`tna-nat64 --help`"},
        {{NAT64, n}, "give --pool"},
        {{NAT64, n, pool}, "--pool needs a value"},
        {{NAT64, n, pool, one, "extra"}, "`tna-nat64` takes no 'extra'"},
        {{NAT64, n, pool, one, "--then", "bck"},
         "--then: must be one of send, back, not 'bck' (did you mean 'back'?"},
        {{NAT64, n, pool, one, "--mtu", "100"}, "--mtu: must be a whole number from 1280 to 9000"},
        {{NAT64, n, pool, one + ":9-8"}, "ports are a range from 1 to 65535, as in 192.0.2.1:20000-29999"},
        {{NAT64, n, pool, one, pool, one}, "192.0.2.1 has been given before"},
        {{NAT64, n, "--map", one}, "as in 192.0.2.1=2001:db8::1"},
        {{NAT64, longName, pool, one}, "network functions have 31 letters at most"},
        {{NAT64, n, pool, one, "--socket", longSocket}, "107 letters are the most that Linux takes"},
        {{BALANCER, n}, "FILE is required"},
        {{BALANCER, n, folder_}, "is no file, but a folder"},
        {{BALANCER, n, folder_ + "/none"}, "is the name right?"},
        {{RECORDER, n}, "FILE is required"},
        {{RECORDER, n, folder_ + "/f", "--files", "0"}, "--files: must be a whole number from 1 to 10000"},
        {{RECORDER, n, folder_ + "/f", "--then", "send"}, "must be one of back, forward, drop, not 'send'"},
        {{WORKLOAD, "macswp", n}, "WORK: must be one of macswap, "},
        {{WORKLOAD, "macswp", n}, "did you mean 'macswap'?"},
        {{WORKLOAD, "macswap", n, "--queue", "1", "--queue", "1"}, "queue 1 is named twice"},
        {{WORKLOAD, "macswap", n, "--counts", folder_ + "/none/c"}, "cannot write", 1},
        {{WORKLOAD, "macswap", n, "--bsy"}, "did you mean '--busy'?"}};
    for (const auto& wrong : all)
        expect(wrong);
}

TEST_F(FunctionPrograms, WhatIsAfterAValueMayBeTheName) {
    const auto said =
        command({"timeout", "1", NAT64, "--pool", "192.0.2.1", "nat64", "--socket", folder_ + "/s"});
    EXPECT_THAT(said.output, HasSubstr("tna-nat64: tnad does not answer at " + folder_ + "/s: No such file"));
}

TEST_F(FunctionPrograms, HelpNamesTheProgramAndHasExamples) {
    for (const auto& [program, name] : {std::pair{NAT64, "tna-nat64"},
                                        {BALANCER, "tna-balancer"},
                                        {RECORDER, "tna-recorder"},
                                        {WORKLOAD, "tna-workload"}}) {
        const auto help = command({program, "--help"});
        EXPECT_EQ(help.exitCode, 0);
        EXPECT_THAT(help.output, HasSubstr(std::string("Usage: ") + name + " [OPTIONS]"));
        EXPECT_THAT(help.output, HasSubstr(std::string("Examples:\n  ") + name + " "));
        EXPECT_THAT(help.output, HasSubstr("tna-functions.d(5). " + std::string(name) + "(1) has more."));
    }
}

} // namespace
} // namespace tna::test
