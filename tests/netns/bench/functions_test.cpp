// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark of network functions measures what it says; never how fast anything is.
#include "bench/functions/study.hpp"
#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <utility>

namespace tna::bench {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;
using ::testing::SizeIs;

bool kernelHasNoFunctions() {
    utsname names{};
    int major = 0, minor = 0;
    return ::uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &major, &minor) != 2 ||
           std::pair{major, minor} < std::pair{6, 4};
}

TEST(BenchFunctions, AllSendFramesBackAsTheyHaveToBe) {
    if (const auto why = test::cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    if (kernelHasNoFunctions())
        GTEST_SKIP() << "bound sockets cannot be handed over before Linux 6.4";
    Unwatched watcher;
    const FunctionsOptions options{
        .rounds = 1, .seconds = 0.05, .cpus = 1, .tnad = TNAD, .workload = TNA_WORKLOAD};
    const auto runs = measureFunctions(options, watcher);
    ASSERT_TRUE(runs) << runs.error().sentence();
    EXPECT_THAT(*runs, SizeIs(4));
    for (const auto& each : *runs) {
        SCOPED_TRACE(each.name);
        EXPECT_THAT(each.mpps, AllOf(SizeIs(1), Each(Gt(0))));
        EXPECT_THAT(each.loss, AllOf(SizeIs(1), Each(AllOf(Ge(0), Le(1)))));
    }
    const auto document = functionsDocument(options, {}, *runs);
    EXPECT_EQ(document["contestants"].size(), 4);
    EXPECT_FALSE(document["missing"].empty());
}

} // namespace
} // namespace tna::bench
