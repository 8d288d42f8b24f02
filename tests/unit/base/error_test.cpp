// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/program.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <stdexcept>

namespace tna {
namespace {

TEST(Error, SentenceSaysWhatWhyAndWhatNext) {
    EXPECT_EQ((Error{"cannot do it", "No such file", "make one"}.sentence()),
              "cannot do it: No such file (make one)");
    EXPECT_EQ((Error{"cannot do it", "", ""}.sentence()), "cannot do it");
    EXPECT_EQ((Error{"cannot do it", "", "try again"}.sentence()), "cannot do it (try again)");
}

TEST(Error, ErrnoIsTakenWithEitherSign) {
    const Result<void> positive = failErrno(ENOENT, "cannot open {}", "x");
    const Result<void> negative = failErrno(-ENOENT, "cannot open {}", "x");
    EXPECT_EQ(positive.error().sentence(), "cannot open x: No such file or directory");
    EXPECT_EQ(positive.error().sentence(), negative.error().sentence());
}

TEST(Program, ReturnsWhatItsMainReturns) {
    EXPECT_EQ(runProgram("p", [] { return 7; }), 7);
}

TEST(Program, ExceptionBecomesASentence) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(runProgram("p", []() -> int { throw std::runtime_error("out of luck"); }), 1);
    EXPECT_EQ(runProgram("p", []() -> int { throw 3; }), 1);
    const auto told = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("p: this should not have happened: out of luck (please report it)\n"),
              std::string::npos);
}

} // namespace
} // namespace tna
