// SPDX-License-Identifier: Apache-2.0
// Root's shell runs a script's lines: what is none is refused before the first of them.
#include "diff/random/random_case.hpp"
#include "diff/script_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::diff {
namespace {

using ::testing::HasSubstr;

void expectRefused(const std::string& script, const std::string& why) {
    const auto checked = checkScript(script);
    ASSERT_FALSE(checked) << script;
    EXPECT_THAT(checked.error().sentence(), HasSubstr(why));
    EXPECT_EQ(checked.error().code, ExitCode::usage);
}

TEST(ScriptCheck, TakesCommandsForNetworks) {
    EXPECT_TRUE(
        checkScript("# a bridge\n\nip link add br0 type bridge\n  /sbin/bridge vlan add dev p0 vid 3\n"
                    "echo 1 >/proc/sys/net/ipv4/ip_forward\n[ $WORLD = tna ] && sleep 0\nX=1; tc qdisc show\n"
                    "@packets 3\nfor i in 1 2; do nft list ruleset; done"));
}

TEST(ScriptCheck, TakesAnythingAfterALineOfItsOwn) {
    EXPECT_TRUE(checkScript("# mine\n\n@ports eth0 eth1\npython3 -c 'pass'\n./prepare\n"));
    EXPECT_TRUE(checkScript("@lazy\ncat /dev/null\n"));
}

TEST(ScriptCheck, TakesWhatRandomCasesAreWrittenAs) {
    for (unsigned seed = 1; seed < 20; seed++) {
        const auto checked = checkScript(scriptOf(randomCase(seed, 100)));
        EXPECT_TRUE(checked) << checked.error().sentence();
    }
}

TEST(ScriptCheck, RefusesOtherTexts) {
    expectRefused("# tna: a title\n\nLinux networking is rich and slow\n",
                  "line 3 begins with no command for networks: 'Linux");
    expectRefused("#!/bin/sh\nset -e\nip link\n", "line 2 begins with no command");
    expectRefused("ip link set p0 up\nrm -rf /tmp/x\n", "line 2 begins with no command");
    expectRefused("ip link set p0 up\n@packets\nrm -rf /tmp/x\n", "line 3 begins with no command");
    expectRefused("1X=2\n", "line 1");
    expectRefused("", "none says anything");
    expectRefused("# only a comment\n\n", "none says anything");
}

TEST(ScriptCheck, RefusesWhatIsNoText) {
    expectRefused(std::string("\x7f"
                              "ELF\0",
                              5),
                  "line 1 is no plain text");
    expectRefused("@ports p0\nip link\x1b[2J\n", "line 2 is no plain text: 'ip link\\x1b[2J'");
    expectRefused("@ports p0\r\n", "line 1 ends as on Windows");
}

} // namespace
} // namespace tna::diff
