// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark of containers measures what it says; never how fast anything is.
#include "bench/measure/containers.hpp"
#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;

class BenchContainers : public ::testing::TestWithParam<bool> {};

TEST_P(BenchContainers, TalkWithAndWithoutTheFastPath) {
    if (const auto why = test::cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const ContainersOptions options{.routed = GetParam(), .rounds = 2, .seconds = 0.05, .tnad = TNAD};
    Unwatched watcher;
    const auto result = measureContainers(options, watcher);
    if (!result && result.error().cause.find("no tcx") != std::string::npos)
        GTEST_SKIP() << result.error().sentence();
    ASSERT_TRUE(result) << result.error().sentence();
    for (const auto* rates : {&result->linux, &result->tna})
        for (const auto* each : {&rates->requests, &rates->bits, &rates->datagrams}) {
            EXPECT_THAT(*each, SizeIs(2));
            EXPECT_THAT(*each, Each(Gt(0)));
        }
    EXPECT_GT(result->fastPart, 0.5);
}

INSTANTIATE_TEST_SUITE_P(, BenchContainers, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Routed" : "Bridged"; });

} // namespace
} // namespace tna::bench
