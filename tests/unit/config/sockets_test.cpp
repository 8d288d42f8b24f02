// SPDX-License-Identifier: Apache-2.0
#include "config/sockets.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

TEST(FunctionSocket, IsBesideTheControlSocketAndCalledByItsName) {
    EXPECT_EQ(config::functionSocketBeside("/run/tna/tnad.sock"), "/run/tna/functions.sock");
    EXPECT_EQ(config::functionSocketBeside("/run/tna@blue/tnad.sock"), "/run/tna@blue/functions.sock");
    EXPECT_EQ(config::functionSocketBeside("/run/tna/blue.sock"), "/run/tna/blue-functions.sock");
    EXPECT_EQ(config::functionSocketBeside("/tmp/control"), "/tmp/control-functions.sock");
    EXPECT_EQ(config::functionSocketBeside("x.y.sock"), "x.y-functions.sock");
}

TEST(FunctionSocket, HasRoomForItsNameAsTheControlSocketHas) {
    const auto path = [](std::size_t length, const std::string& name) {
        return "/" + std::string(length - 2 - name.size(), 'x') + "/" + name;
    };
    EXPECT_TRUE(config::isControlSocket(path(102, "tnad.sock")));
    EXPECT_FALSE(config::isControlSocket(path(103, "tnad.sock")));
    EXPECT_TRUE(config::isControlSocket(path(97, "blue.sock")));
    EXPECT_FALSE(config::isControlSocket(path(98, "blue.sock")));
    EXPECT_FALSE(config::isControlSocket(path(108, "tnad.sock")));
    EXPECT_FALSE(config::isControlSocket(""));
}

} // namespace
} // namespace tna::test
