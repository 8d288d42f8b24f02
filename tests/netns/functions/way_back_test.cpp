// SPDX-License-Identifier: Apache-2.0
// What is said where functions get no way back: the kernel's reason, if it has one.
#include "daemon/function_parts.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

namespace tna::daemon {
namespace {

using ::testing::HasSubstr;

TEST(WayBackOf, ADeviceThatIsNotThereIsTold) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root";
    FunctionPlan plan;
    plan.declared = {.name = "f", .ports = {"p0"}};
    plan.declared.queues = {};
    plan.backIfindex = 999'999;
    plan.backQueues = {{0, false}, {1, false}};
    for (const bool givesBack : {true, false}) {
        plan.givesBack = givesBack;
        const auto parts = makeParts(plan);
        ASSERT_FALSE(parts);
        EXPECT_THAT(parts.error().sentence(),
                    HasSubstr("cannot bind 'f' to queue 0 of the way back to Linux: No such device"));
    }
}

} // namespace
} // namespace tna::daemon
