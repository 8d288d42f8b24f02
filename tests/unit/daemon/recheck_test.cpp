// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "daemon/recheck.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

using daemon::Recheck;
using std::chrono::seconds;

const Recheck::Time start{};

/// At which of the seconds until `end` something was due.
std::vector<int> secondsDue(Recheck& recheck, Recheck::Due wanted, const std::set<model::IfIndex>& hindered,
                            int from, int end) {
    std::vector<int> found;
    for (int second = from; second < end; second++)
        if (recheck.due(start + seconds(second), hindered) == wanted)
            found.push_back(second);
    return found;
}

TEST(Recheck, WhatHindersIsReadSoonAndThenMoreRarely) {
    Recheck recheck{start};
    EXPECT_EQ(secondsDue(recheck, Recheck::Due::hindered, {}, 0, 10), std::vector<int>{});
    EXPECT_EQ(secondsDue(recheck, Recheck::Due::hindered, {7}, 10, 50),
              (std::vector{11, 13, 17, 25, 33, 41, 49}));
}

TEST(Recheck, AnotherPortThatIsHinderedIsReadSoon) {
    Recheck recheck{start};
    (void)secondsDue(recheck, Recheck::Due::hindered, {7}, 0, 30);
    EXPECT_EQ(secondsDue(recheck, Recheck::Due::hindered, {7, 8}, 30, 34), (std::vector{31, 33}));
}

TEST(Recheck, EverythingIsReadOnceAMinute) {
    Recheck recheck{start};
    EXPECT_EQ(secondsDue(recheck, Recheck::Due::everything, {7}, 0, 130), (std::vector{60, 120}));
    recheck.done(start + seconds(130));
    EXPECT_EQ(secondsDue(recheck, Recheck::Due::everything, {}, 130, 200), std::vector{190});
}

TEST(Recheck, PortsAreHinderedByWhatEndsWithoutAMessage) {
    assemble::Plan plan;
    plan.ports[1].reasons = {{"paused", "", ""}};
    plan.ports[2].reasons = {{"learning-off", "", ""}, {"foreign-xdp", "", ""}};
    plan.ports[3].profile.emplace();
    plan.ports[4].reasons = {{"no-native-xdp", "", ""}};
    EXPECT_EQ(daemon::hinderedSilently(plan), (std::set<model::IfIndex>{2, 4}));
}

TEST(Facts, AreAllInTheDocumentation) {
    const auto document = readFile(TNA_SOURCE_DIR "/docs/architecture.md");
    ASSERT_TRUE(document);
    const auto word = [](daemon::Noticed noticed) {
        switch (noticed) {
        case daemon::Noticed::announced:
            return "announced";
        case daemon::Noticed::looked:
            return "looked for";
        case daemon::Noticed::again:
            return "**read again**";
        }
        return "";
    };
    for (const auto& fact : daemon::facts())
        EXPECT_NE(document->find(fmt::format("| {} | {} | {} |\n", fact.what, word(fact.noticed), fact.how)),
                  std::string::npos)
            << fact.what;
}

} // namespace
} // namespace tna::test
