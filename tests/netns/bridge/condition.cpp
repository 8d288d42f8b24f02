// SPDX-License-Identifier: Apache-2.0
#include "condition.hpp"

#include <ostream>

namespace tna::test {

void PrintTo(const Condition& condition, std::ostream* out) {
    *out << condition.name;
}

std::string nameOf(const ::testing::TestParamInfo<Condition>& parameter) {
    return parameter.param.name;
}

void BridgeTest::run(const std::vector<std::string>& commands) {
    for (const auto& words : commands) {
        const auto result = command({"sh", "-c", words});
        ASSERT_EQ(result.exitCode, 0) << words << ": " << result.output;
    }
}

void BridgeTest::prepare(const Condition& condition) {
    for (const auto& words : condition.prepare)
        if (const auto result = command({"sh", "-c", words}); !IsSkipped() && result.exitCode != 0)
            GTEST_SKIP() << "this kernel or machine has not what it takes: " << words << ": "
                         << result.output;
}

void BridgeTest::expectAsLinux(const Condition& condition, const Arrivals& usual) {
    run(condition.set);
    const auto linux = treat(condition.frame).out;
    run(condition.unset);
    ASSERT_EQ(treat(condition.frame).out, usual);

    ASSERT_NO_FATAL_FAILURE(accelerate());
    if (IsSkipped())
        return;
    ASSERT_EQ(treat(condition.frame), (Treatment{fastPath(), usual}));
    run(condition.set);
    EXPECT_EQ(treat(condition.frame),
              (Treatment{condition.reason.empty() ? fastPath() : slowPath(condition.reason), linux}));
    run(condition.unset);
    EXPECT_EQ(treat(condition.frame), (Treatment{fastPath(), usual}));
}

} // namespace tna::test
