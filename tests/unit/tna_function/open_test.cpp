// SPDX-License-Identifier: Apache-2.0
// What a program says of itself when it opens a function.
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <tna/function.h>

namespace {

/// Of a header that is newer than the library.
struct NewerOptions {
    tna_function_options known = TNA_FUNCTION_OPTIONS;
    std::uint64_t added = 0;
};

int open(const tna_function_options& options) {
    tna_function* function = nullptr;
    const int error = tna_function_open(&function, "f", &options);
    EXPECT_EQ(function != nullptr, error == -EAGAIN) << "tnad is not there, and is waited for";
    tna_function_close(function);
    return error;
}

tna_function_options nowhere() {
    tna_function_options options = TNA_FUNCTION_OPTIONS;
    options.socket = "/nonexistent/functions.sock";
    return options;
}

TEST(Open, OptionsOfThisVersionAreTaken) {
    EXPECT_EQ(open(nowhere()), -EAGAIN);
    auto options = nowhere();
    const unsigned unknown = 3;
    std::memcpy(&options.wait, &unknown, sizeof(options.wait));
    EXPECT_EQ(open(options), -EINVAL);
}

TEST(Open, OptionsOfAnotherVersionAreTakenIfTheySayWhatIsKnown) {
    NewerOptions newer{nowhere()};
    newer.known.size = sizeof(newer);
    EXPECT_EQ(open(newer.known), -EAGAIN);
    newer.added = 1;
    EXPECT_EQ(open(newer.known), -E2BIG) << "it wants something that this library does not do";
    newer.known.size = sizeof(newer.known);
    EXPECT_EQ(open(newer.known), -EAGAIN) << "what lies behind it is something else";
}

/// Padding would be bytes that a later library takes for what this one's callers have said.
TEST(Open, NothingIsInvisibleInOptions) {
    EXPECT_EQ(sizeof(tna_function_options), offsetof(tna_function_options, reserved) + sizeof(int));
    auto options = nowhere();
    options.reserved = 1;
    EXPECT_EQ(open(options), -E2BIG);
    options.size = offsetof(tna_function_options, reserved);
    EXPECT_EQ(open(options), -EAGAIN) << "not among what is said";
}

TEST(Open, OptionsWithoutTheirSizeAreRefused) {
    auto options = nowhere();
    options.size = 0;
    EXPECT_EQ(open(options), -EINVAL);
    options.size = offsetof(tna_function_options, wait);
    EXPECT_EQ(open(options), -EINVAL);
}

} // namespace
