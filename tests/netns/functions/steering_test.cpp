// SPDX-License-Identifier: Apache-2.0
// Frames are steered to a function without capabilities, and all others go as ever.
#include "netns/functions/functions_fixture.hpp"
#include "tnactl/client.hpp"

#include <csignal>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Steering : public StartedFunctionsTest {
protected:
    void expectAsEver(const Frame& frame) {
        far(0).send(frame);
        EXPECT_EQ(arrivesAt(1), frame);
    }
    void expectAnswered(const Frame& frame) {
        far(0).send(frame);
        EXPECT_EQ(arrivesAt(0), swapped(frame));
    }
};

TEST_F(Steering, FunctionGetsItsFramesAndNoOthers) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    expectAsEver(toPort(53));
    EXPECT_EQ(functionNamed("dns")["state"], "nobody");
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    expectAnswered(toPort(53));
    expectAsEver(toPort(54));
    const auto document = functionNamed("dns");
    EXPECT_EQ(document["rules"][0]["packets"], 1) << document;
    EXPECT_EQ(document["rules"][0]["bytes"], 60) << document;
    EXPECT_EQ(document["rules"][0]["otherwise"], 1) << document;
    EXPECT_EQ(document["connections"][0]["user"], 65534) << document;
    const auto status = ctl::Client(socket()).get("/v1/status");
    ASSERT_TRUE(status);
    EXPECT_EQ(
        (*status)["functions"],
        (nlohmann::json{
            {{"name", "dns"}, {"state", "connected"}, {"packets", 1}, {"bytes", 60}, {"otherwise", 1}}}));
}

TEST_F(Steering, NextFrameIsLinuxsWhenTheFunctionIsKilled) {
    ASSERT_EQ(declare("dns", dnsFunction), "");
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    expectAnswered(toPort(53));
    workload_->end(SIGKILL);
    expectAsEver(toPort(53));
    ASSERT_TRUE(becomes("dns", "nobody"));
    startWorkload("macswap", "dns");
    ASSERT_TRUE(becomes("dns", "connected"));
    expectAnswered(toPort(53));
}

} // namespace
} // namespace tna::test
