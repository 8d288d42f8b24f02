// SPDX-License-Identifier: Apache-2.0
#include "api/requests.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

TEST(Requests, TracesAreOfAllPacketsUnlessOtherwiseSaid) {
    for (const char* body : {"", "{}"}) {
        const auto wish = api::traceWish(body);
        ASSERT_TRUE(wish) << wish.error().sentence();
        EXPECT_FALSE(wish->port);
        EXPECT_EQ(wish->oneIn, 1U);
    }
    const auto wish = api::traceWish(R"({"port": "p1", "every": 10})");
    ASSERT_TRUE(wish);
    EXPECT_EQ(wish->port, "p1");
    EXPECT_EQ(wish->oneIn, 10U);
    for (const char* body : {R"({"every": 0})", R"({"every": -1})", R"({"evry": 2})", R"({"port": 2})", "x"})
        EXPECT_FALSE(api::traceWish(body)) << body;
}

TEST(Requests, PlacementsAreWithinBoundsAndReplaceOnlyWhereThatIsSaid) {
    using Parameters = std::multimap<std::string, std::string>;
    const auto wish = api::placeWish(
        {{"hook", "ingress"}, {"port", "eth*"}, {"port", "p1"}, {"kind", "veth"}, {"priority", "65535"}});
    ASSERT_TRUE(wish) << wish.error().sentence();
    EXPECT_EQ(wish->placement, (api::Placement{{"ingress"}, {"eth*", "p1"}, {"veth"}, 65535}));
    EXPECT_FALSE(wish->replace);
    EXPECT_FALSE(api::placeWish({{"replace", "0"}})->replace);
    EXPECT_TRUE(api::placeWish({{"replace", "1"}})->replace);
    for (const auto& [key, value] : Parameters{{"priority", ""},
                                               {"priority", "-3"},
                                               {"priority", "5x"},
                                               {"priority", "65536"},
                                               {"priority", "99999999999"},
                                               {"replace", ""},
                                               {"replace", "yes"},
                                               {"port", "["},
                                               {"kind", "\\"},
                                               {"hooks", "ingress"}})
        EXPECT_FALSE(api::placeWish({{key, value}})) << key << "=" << value;
}

TEST(Requests, NamesOfModulesBeginWithALetterOrADigit) {
    for (const char* name : {"monitor", "a.b-c", "_x", "7", "A"})
        EXPECT_TRUE(api::isModuleName(name)) << name;
    for (const std::string name : {"", ".", "..", "-rf", "a/b", "a b", "\x1b", "@trace1"})
        EXPECT_FALSE(api::isModuleName(name)) << name;
    EXPECT_FALSE(api::isModuleName(std::string(33, 'a')));
}

} // namespace
} // namespace tna::test
