// SPDX-License-Identifier: Apache-2.0
// Docker as it comes: with one line of configuration, what its containers exchange with each other and with
// the outside is fast, by its own rules, and what they forbid stays forbidden.
#include "docker_fixture.hpp"
#include "support/transfer.hpp"

namespace tna::test {
namespace {

TEST_F(Docker, ContainersOfANetworkAreFastAmongThemselves) {
    const auto one = run("one"), two = run("two");
    accelerate(2);
    if (!IsSkipped())
        expectFast(*one.inside, *two.inside, two.address);
}

/// Containers go out masqueraded, and have ports published. What connection tracking calls invalid is not
/// translated, and Docker's rules let it pass: it takes a rule of the operator's that drops it.
TEST_F(Docker, ContainersAreFastWithTheOutside) {
    const auto one = run("one", {"-p", "4000:4000"});
    accelerate(1);
    if (IsSkipped())
        return;
    for (const auto& port : ports())
        EXPECT_EQ(port["hook"], "tcx") << port["name"];
    transferBothWays(*one.inside, *outside_, outsideAddress);
    must("nft table ip early { chain invalid { type filter hook prerouting priority -150; ct state invalid "
         "drop; }; }");
    expectFast(*one.inside, *outside_, outsideAddress);
    expectFast(*outside_, *one.inside, one.address, hostAddress);
}

TEST_F(Docker, NetworksStayApart) {
    docker({"network", "create", "other"});
    const auto one = run("one"), two = run("two"), three = run("three", {"--network", "other"});
    EXPECT_TRUE(reaches(*one.inside, two.address));
    EXPECT_FALSE(reaches(*one.inside, three.address));
    accelerate(3);
    if (IsSkipped())
        return;
    expectFast(*one.inside, *two.inside, two.address);
    for (int i = 0; i < 2; i++) {
        EXPECT_TRUE(reaches(*one.inside, two.address));
        EXPECT_FALSE(reaches(*one.inside, three.address));
        EXPECT_FALSE(reaches(*three.inside, one.address));
    }
}

/// Their rules and devices go, and others come, by other numbers.
TEST_F(Docker, ContainersAreFastBehindARestartOfDocker) {
    run("one");
    run("two");
    accelerate(2);
    if (IsSkipped())
        return;
    stopDocker();
    EXPECT_TRUE(accelerated(0)) << ports().dump();
    startDocker();
    docker({"start", "one", "two"});
    const auto one = running("one"), two = running("two");
    ASSERT_TRUE(accelerated(2)) << ports().dump();
    expectFast(*one.inside, *two.inside, two.address);
}

TEST_F(Docker, ContainersComeAndGo) {
    run("first");
    accelerate(1);
    if (IsSkipped())
        return;
    for (int i = 0; i < 5; i++) {
        const auto next = run("next");
        EXPECT_TRUE(accelerated(2)) << ports().dump();
        EXPECT_TRUE(reaches(*next.inside, running("first").address));
        docker({"rm", "-f", "next"});
        EXPECT_TRUE(accelerated(1)) << ports().dump();
    }
}

} // namespace
} // namespace tna::test
