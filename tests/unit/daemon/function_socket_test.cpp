// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_server.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

TEST(FunctionSocket, IsBesideTheControlSocketAndCalledByItsName) {
    EXPECT_EQ(daemon::functionSocketBeside("/run/tna/tnad.sock"), "/run/tna/functions.sock");
    EXPECT_EQ(daemon::functionSocketBeside("/run/tna@blue/tnad.sock"), "/run/tna@blue/functions.sock");
    EXPECT_EQ(daemon::functionSocketBeside("/run/tna/blue.sock"), "/run/tna/blue-functions.sock");
    EXPECT_EQ(daemon::functionSocketBeside("/tmp/control"), "/tmp/control-functions.sock");
    EXPECT_EQ(daemon::functionSocketBeside("x.y.sock"), "x.y-functions.sock");
}

} // namespace
} // namespace tna::test
