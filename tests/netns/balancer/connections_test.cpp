// SPDX-License-Identifier: Apache-2.0
// Connections of clients to a service, by real sockets.
#include "netns/balancer/balancer_fixture.hpp"

namespace tna::test {
namespace {

using ::testing::AnyOf;

class BalancerConnections : public BalancerTest {
protected:
    void SetUp() override {
        BalancerTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        startTnad();
        declare();
    }
};

TEST_F(BalancerConnections, ConnectionsReachOneServerEach) {
    configure(oneService);
    startBalancer();
    const Talker one(*servers_, "10.0.1.11", 8080), two(*servers_, "10.0.1.12", 8080);
    std::map<std::string, unsigned> met;
    std::vector<std::unique_ptr<Talk>> talks;
    for (int i = 0; i < 32; i++) {
        talks.push_back(std::make_unique<Talk>(*clients_, serviceAddress, 80));
        const auto& with = talks.back()->with();
        ASSERT_THAT(with, AnyOf("10.0.1.11", "10.0.1.12"));
        EXPECT_EQ((with == "10.0.1.11" ? one : two).lastClient(), talks.back()->self())
            << "servers see clients themselves";
        met[with]++;
    }
    EXPECT_EQ(met.size(), 2U);
    for (const auto& talk : talks)
        EXPECT_TRUE(talk->echoes());
    EXPECT_TRUE(talks.front()->echoes(2U << 20U));
    const auto said = endBalancer();
    EXPECT_EQ(said["sessions"]["now"], 32) << said;
    EXPECT_EQ(said["outcomes"]["not-sent"], 0) << said;
    EXPECT_EQ(said["outcomes"]["no-session"], 0) << said;
    const auto& backends = said["services"][0]["backends"];
    EXPECT_EQ(backends[0]["sessions"], met["10.0.1.11"]) << said;
    EXPECT_EQ(backends[1]["sessions"], met["10.0.1.12"]) << said;
}

} // namespace
} // namespace tna::test
