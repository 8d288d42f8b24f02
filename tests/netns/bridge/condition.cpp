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

void ConditionTest::SetUp() {
    BridgeTest::SetUp();
    if (!IsSkipped())
        learn();
    for (const auto& words : GetParam().prepare)
        if (const auto result = command({"sh", "-c", words}); !IsSkipped() && result.exitCode != 0)
            GTEST_SKIP() << "this kernel or machine has not what it takes: " << words << ": "
                         << result.output;
}

void ConditionTest::run(const std::vector<std::string>& commands) {
    for (const auto& words : commands) {
        const auto result = command({"sh", "-c", words});
        ASSERT_EQ(result.exitCode, 0) << words << ": " << result.output;
    }
}

void ConditionTest::expectAsLinux(const Condition& condition) {
    run(condition.set);
    const auto linux = treat(condition.frame).out;
    run(condition.unset);
    const Arrivals usual{{1, {condition.frame}}};
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

TEST_P(ConditionTest, FramesGoWhereLinuxSendsThem) {
    expectAsLinux(GetParam());
}

} // namespace tna::test
