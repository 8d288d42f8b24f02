// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_access.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>

namespace tna::daemon {
namespace {

TEST(FunctionAccess, IsForUsersAndGroupsOfTheDeclaration) {
    const auto* nobody = ::getpwnam("nobody");
    const auto* group = ::getgrgid(nobody == nullptr ? 0 : nobody->pw_gid);
    ASSERT_TRUE(nobody != nullptr && group != nullptr);
    const api::Peer peer{nobody->pw_uid, {group->gr_gid}};
    EXPECT_FALSE(mayConnect({}, peer));
    EXPECT_TRUE(mayConnect({.users = {"no-such-user", "nobody"}}, peer));
    EXPECT_TRUE(mayConnect({.users = {std::to_string(nobody->pw_uid)}}, peer));
    EXPECT_TRUE(mayConnect({.groups = {"no-such-group", group->gr_name}}, peer));
    EXPECT_FALSE(mayConnect({.users = {group->gr_name, "4711"}, .groups = {"root"}}, peer));
    EXPECT_TRUE(mayConnect({}, {0, {0}})) << "root";
    EXPECT_EQ(unknownAmong({"nobody", "no-such-user", "4711"}, {"no-such-group", group->gr_name}),
              (std::vector<std::string>{"user 'no-such-user'", "group 'no-such-group'"}));
}

} // namespace
} // namespace tna::daemon
