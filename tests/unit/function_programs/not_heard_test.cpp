// SPDX-License-Identifier: Apache-2.0
// The programs go on where nobody hears what they say: the disk is full, or who has read it is gone.
#include "base/file.hpp"
#include "support/command.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

struct Program {
    const char* name;
    std::string line;
};

class NotHeard : public ::testing::TestWithParam<Program> {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-programs-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        ASSERT_TRUE(writeFile(folder_ + "/f", "[[service]]\naddress = \"192.0.2.80\"\nport = 80\n"
                                              "check = { kind = \"none\" }\n"
                                              "[[service.backend]]\naddress = \"10.0.1.11\"\n"));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    /// A line of the shell that waits in vain for tnad, says so, and is ended after a second.
    [[nodiscard]] std::string waiting() const {
        return fmt::format("timeout --preserve-status 1 {} --socket {}/none",
                           fmt::format(fmt::runtime(GetParam().line), folder_ + "/f"), folder_);
    }
    static std::string shell(const std::string& line) { return command({"sh", "-c", line}).output; }

    std::string folder_;
};

TEST_P(NotHeard, BecauseTheDiskIsFull) {
    EXPECT_EQ(shell(waiting() + " 2>/dev/full >/dev/null; echo ended $?"), "ended 0\n");
}

TEST_P(NotHeard, BecauseNobodyReads) {
    const std::string untilNobodyReads = "(trap '' PIPE; while echo; do :; done) 2>/dev/null; ";
    EXPECT_EQ(
        shell("exec 3>&1; { " + untilNobodyReads + waiting() + " 2>&1 >/dev/null; echo ended $? >&3; } | :"),
        "ended 0\n");
}

/// What was to be shown has not been, so it is a failure in the end.
TEST_P(NotHeard, WhatIsShownIsAFailureInTheEnd) {
    const auto said = shell(waiting() + " 2>&1 >/dev/full; echo ended $?");
    EXPECT_THAT(said, ::testing::HasSubstr("cannot write to standard output"));
    EXPECT_THAT(said, ::testing::EndsWith("\nended 1\n"));
}

INSTANTIATE_TEST_SUITE_P(Programs, NotHeard,
                         ::testing::Values(Program{"Nat64", NAT64 " n --pool 192.0.2.1"},
                                           Program{"Balancer", BALANCER " n {}"},
                                           Program{"Recorder", RECORDER " n {}"},
                                           Program{"Workload", WORKLOAD " macswap n"}),
                         [](const auto& tried) { return tried.param.name; });

} // namespace
} // namespace tna::test
