// SPDX-License-Identifier: Apache-2.0
#include "condition.hpp"

namespace tna::test {

TEST_P(ConditionTest, FramesGoWhereLinuxSendsThem) {
    expectAsLinux(GetParam(), {{1, {GetParam().frame}}});
}

} // namespace tna::test
