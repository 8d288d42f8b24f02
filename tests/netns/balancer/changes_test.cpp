// SPDX-License-Identifier: Apache-2.0
// Servers, tna-balancer and tnad that go and come while there are connections.
#include "netns/balancer/balancer_fixture.hpp"

#include <csignal>
#include <set>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class BalancerChanges : public BalancerTest {
protected:
    void SetUp() override {
        BalancerTest::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        startTnad();
        declare();
        one_.emplace(*servers_, "10.0.1.11", 8080);
        two_.emplace(*servers_, "10.0.1.12", 8080);
        configure(checkedService(oftenChecked));
        startBalancer();
    }
    /// One with each server.
    void talkWithBoth() {
        for (int i = 0; i < 64 && talks_.size() < 2; i++) {
            auto talk = std::make_unique<Talk>(*clients_, serviceAddress, 80);
            ASSERT_NE(talk->with(), "");
            const auto server = talk->with();
            talks_.try_emplace(server, std::move(talk));
        }
        ASSERT_EQ(talks_.size(), 2U);
    }
    void expectAllEcho(std::size_t bytes = 100) const {
        for (const auto& [server, talk] : talks_)
            EXPECT_TRUE(talk->echoes(bytes)) << server;
    }
    [[nodiscard]] bool hasSaid(const std::string& words) const {
        return eventually([&] { return said().find(words) != std::string::npos; });
    }
    /// With whom new connections are.
    [[nodiscard]] std::set<std::string> met(int tries = 16) const {
        std::set<std::string> servers;
        for (int i = 0; i < tries; i++)
            servers.insert(Talk(*clients_, serviceAddress, 80).with());
        return servers;
    }

    std::optional<Talker> one_, two_;
    std::map<std::string, std::unique_ptr<Talk>> talks_;
};

TEST_F(BalancerChanges, ServerThatDiesGetsNothingNew) {
    talkWithBoth();
    one_.reset();
    EXPECT_TRUE(hasSaid("10.0.1.11:8080 is down: Connection refused")) << said();
    EXPECT_EQ(met(), std::set<std::string>{"10.0.1.12"});
    EXPECT_TRUE(talks_["10.0.1.12"]->echoes()) << "the other one's stay";
    one_.emplace(*servers_, "10.0.1.11", 8080);
    EXPECT_TRUE(hasSaid("10.0.1.11:8080 is up")) << said();
    EXPECT_EQ(met(64).size(), 2U);
    EXPECT_TRUE(talks_["10.0.1.12"]->echoes());
    const auto all = endBalancer();
    EXPECT_GT(all["outcomes"]["own"], 10) << "answers to its checks " << all;
}

TEST_F(BalancerChanges, ServerThatSaysNothingIsDown) {
    const auto inside = servers_->enter();
    must("ip address del 10.0.1.12/24 dev rack0");
    EXPECT_TRUE(hasSaid("10.0.1.12:8080 is down: ")) << said();
    EXPECT_EQ(statistics()["services"][0]["backends"][1]["up"], false);
    EXPECT_EQ(statistics()["services"][0]["backends"][0]["up"], true);
}

TEST_F(BalancerChanges, ConnectionsStayWhenAServerIsAdded) {
    {
        const auto inside = servers_->enter();
        must("ip address add 10.0.1.13/24 dev rack0");
    }
    const Talker three(*servers_, "10.0.1.13", 8080);
    talkWithBoth();
    reconfigure(checkedService(oftenChecked) + "[[service.backend]]\naddress = \"10.0.1.13\"\nport = 8080\n");
    expectAllEcho();
    EXPECT_EQ(met(64).size(), 3U);
    expectAllEcho(200'000);
}

TEST_F(BalancerChanges, DrainedServerKeepsItsConnections) {
    talkWithBoth();
    reconfigure(checkedService(oftenChecked) + "weight = 0\n");
    EXPECT_EQ(met(), std::set<std::string>{"10.0.1.11"});
    expectAllEcho();
    reconfigure(checkedService(oftenChecked));
    EXPECT_EQ(met(64).size(), 2U);
}

TEST_F(BalancerChanges, WrongConfigurationChangesNothing) {
    talkWithBoth();
    reconfigure("nonsense = 1\n");
    EXPECT_THAT(said(), HasSubstr("there is no setting 'nonsense'"));
    expectAllEcho();
    EXPECT_EQ(met(64).size(), 2U);
    reconfigure("sessions = 100\n" + checkedService(oftenChecked));
    EXPECT_THAT(said(), HasSubstr("'sessions' stays 65536 until it is started again"));
    expectAllEcho();
}

/// What it knew of connections is gone; their servers are chosen as before, or seen by what they send.
TEST_F(BalancerChanges, ConnectionsOutliveTheBalancer) {
    talkWithBoth();
    function_->end(SIGKILL);
    EXPECT_TRUE(eventually([&] { return state() == "nobody"; }));
    startBalancer();
    expectAllEcho(200'000);
    EXPECT_EQ(met(64).size(), 2U);
    EXPECT_EQ(endBalancer()["outcomes"]["not-sent"], 0);
}

/// It is the server that sends first, when nobody knows any more for whom.
TEST_F(BalancerChanges, DownloadsOutliveTheBalancer) {
    talkWithBoth();
    for (const auto& [server, talk] : talks_)
        talk->say(std::string(1000, server.back()));
    function_->end(SIGKILL);
    startBalancer();
    for (const auto& [server, talk] : talks_)
        EXPECT_EQ(talk->hear(1000), std::string(1000, server.back()));
    expectAllEcho();
}

TEST_F(BalancerChanges, ConnectionsOutliveTnad) {
    talkWithBoth();
    for (const int signal : {SIGKILL, SIGTERM}) {
        end(signal);
        startTnad();
        declare();
        EXPECT_TRUE(eventually([&] { return state() == "connected"; })) << said();
        expectAllEcho(200'000);
        EXPECT_EQ(met(64).size(), 2U);
    }
    EXPECT_EQ(endBalancer()["outcomes"]["no-session"], 0);
}

} // namespace
} // namespace tna::test
