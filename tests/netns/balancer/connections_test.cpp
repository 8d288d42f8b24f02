// SPDX-License-Identifier: Apache-2.0
// Connections of clients to a service, by real sockets.
#include "netns/balancer/balancer_fixture.hpp"
#include "support/ipv4.hpp"
#include "support/packet_port.hpp"
#include "support/packets.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/socket.h>

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

TEST_F(BalancerConnections, OverIpv6) {
    configure(R"(
[[service]]
address = "2001:db8:2::80"
port = 80
[[service.backend]]
address = "2001:db8:1::12"
port = 8080
)");
    startBalancer();
    const Talker server(*servers_, "2001:db8:1::12", 8080);
    const Talk talk(*clients_, serviceAddress6, 80);
    EXPECT_EQ(talk.with(), "2001:db8:1::12");
    EXPECT_EQ(server.lastClient(), talk.self());
    EXPECT_TRUE(talk.echoes(1U << 20U));
    const auto said = endBalancer();
    EXPECT_EQ(said["services"][0]["backends"][0]["sessions"], 1) << said;
    EXPECT_GT(said["outcomes"]["other"], 0) << "neighbours that are asked for are Linux's: " << said;
}

constexpr const char* names = R"(
[[service]]
protocol = "udp"
address = "192.0.2.80"
port = 53
[[service.backend]]
address = "10.0.1.11"
port = 5353
)";

TEST_F(BalancerConnections, Datagrams) {
    configure(names);
    startBalancer();
    EXPECT_EQ(datagramBothWays(*clients_, serviceAddress, 53, *servers_, "10.0.1.11", 5353), "192.0.2.80 53");
}

TEST_F(BalancerConnections, ClientsAreToldThatNobodyListens) {
    configure(names);
    startBalancer();
    const auto inside = clients_->enter();
    const UniqueFd fd{::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    const auto there = socketAddress(serviceAddress, 53);
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof(there)), 0);
    EXPECT_TRUE(eventually([&] {
        // Whichever is asked first tells.
        char answer = 0;
        return (::send(fd.get(), "?", 1, 0) < 0 && errno == ECONNREFUSED) ||
               (::recv(fd.get(), &answer, 1, MSG_DONTWAIT) < 0 && errno == ECONNREFUSED);
    })) << "as ICMP says of what it has sent itself";
}

/// Every byte, as it leaves the router.
TEST_F(BalancerConnections, FramesAreWhatARouterWouldMakeOfThem) {
    configure(names);
    startBalancer();
    ASSERT_NE(datagramBothWays(*clients_, serviceAddress, 53, *servers_, "10.0.1.11", 5353), "")
        << "neighbours are known";
    std::optional<PacketPort> lan, rack;
    {
        const auto inside = clients_->enter();
        lan.emplace("lan0");
    }
    {
        const auto inside = servers_->enter();
        rack.emplace("rack0");
    }
    const packets::Flow asked{"198.51.100.2", serviceAddress, 4000, 53};
    const packets::Flow reached{"198.51.100.2", "10.0.1.11", 4000, 5353};
    const packets::Flow answer{"10.0.1.11", "198.51.100.2", 5353, 4000};
    const packets::Flow heard{serviceAddress, "198.51.100.2", 53, 4000};
    const auto frameOf = [](const packets::Flow& flow, unsigned to, unsigned from) {
        auto frame = FrameBuilder().ethernet(station(to), station(from)).etherType(0x0800).raw(0);
        const auto packet = packets::udpPacket(flow, packets::Bytes(40, 9));
        frame.bytes.insert(frame.bytes.end(), packet.begin(), packet.end());
        return frame;
    };
    lan->send(frameOf(asked, 10, 1));
    EXPECT_EQ(rack->receive(), oneHopFurther(frameOf(reached, 10, 1), station(2), station(11)));
    rack->send(frameOf(answer, 11, 2));
    auto got = lan->receive();
    constexpr std::size_t protocol = 23;
    if (got && got->bytes[protocol] == 1) // nobody listens there any more, as the server has said
        got = lan->receive();
    EXPECT_EQ(got, oneHopFurther(frameOf(heard, 11, 2), station(1), station(10)));
}

/// What it writes into packets is what Linux decides by.
TEST_F(BalancerConnections, LinuxRoutesAndRefuses) {
    configure(oneService);
    startBalancer();
    const Talker one(*servers_, "10.0.1.11", 8080), two(*servers_, "10.0.1.12", 8080);
    must("ip route add prohibit 10.0.1.12");
    std::map<std::string, unsigned> met;
    for (int i = 0; i < 8; i++)
        met[Talk(*clients_, serviceAddress, 80).with()]++;
    EXPECT_EQ(met.count("10.0.1.12"), 0U);
    EXPECT_GT(met["10.0.1.11"], 0U);
}

/// After the time in which what servers send is taken for what was balanced before.
TEST_F(BalancerConnections, ServersAreReachedDirectlyToo) {
    must("ip rule del iif eth1 from 10.0.1.0/24 ipproto tcp sport 8080 blackhole");
    configure(std::string("adopt = 0\n") + oneService);
    startBalancer();
    const Talker one(*servers_, "10.0.1.11", 8080), two(*servers_, "10.0.1.12", 8080);
    const Talk direct(*clients_, "10.0.1.11", 8080), balanced(*clients_, serviceAddress, 80);
    EXPECT_EQ(direct.with(), "10.0.1.11");
    EXPECT_TRUE(direct.echoes());
    EXPECT_TRUE(balanced.echoes());
    EXPECT_GT(endBalancer()["outcomes"]["no-session"], 0);
}

/// The time in which that is so begins with the first connection to tnad, however late it is.
TEST_F(BalancerConnections, WhatWasThereBeforeTnadIsAdopted) {
    constexpr int seconds = 4;
    end(SIGTERM);
    configure(std::string("adopt = 4\n") + oneService);
    launchBalancer();
    EXPECT_TRUE(eventually([&] { return said().find("waiting") != std::string::npos; }));
    ::poll(nullptr, 0, seconds * 1000 + 500); // it is about time
    startTnad();
    declare();
    EXPECT_TRUE(eventually([&] { return state() == "connected"; })) << said();
    std::optional<PacketPort> rack;
    {
        const auto inside = servers_->enter();
        rack.emplace("rack0");
    }
    auto frame = FrameBuilder().ethernet(station(11), station(2)).etherType(0x0800).raw(0);
    constexpr std::uint8_t ack = 16;
    const auto packet = packets::tcpPacket({"10.0.1.11", "198.51.100.2", 8080, 4000}, ack);
    frame.bytes.insert(frame.bytes.end(), packet.begin(), packet.end());
    rack->send(frame);
    nlohmann::json outcomes;
    EXPECT_TRUE(eventually([&] {
        outcomes = statistics()["outcomes"];
        return outcomes["replied"] == 1 || outcomes["no-session"] == 1;
    }));
    EXPECT_EQ(outcomes["replied"], 1);
}

/// What servers answer to them is this host's, whenever it has got them.
TEST_F(BalancerConnections, OwnAddressesAreKnownWhenTheyAreNew) {
    must("ip rule del iif eth1 from 10.0.1.0/24 ipproto tcp sport 8080 blackhole");
    configure(oneService);
    startBalancer();
    const Talker one(*servers_, "10.0.1.11", 8080), two(*servers_, "10.0.1.12", 8080);
    must("ip address add 203.0.113.9/32 dev eth0");
    must("ip route replace 10.0.1.0/24 dev eth1 src 203.0.113.9");
    EXPECT_TRUE(eventually([&] {
        const auto own = statistics()["outcomes"]["own"];
        return Talk(*dut_, "10.0.1.11", 8080).echoes() && statistics()["outcomes"]["own"] > own;
    }));
}

/// Behind the balancer, the two directions of a connection have nothing to do with each other.
TEST_F(BalancerConnections, FirewallsTrackNoneOfIt) {
    if (command({"nft", R"(
table ip t {
    chain raw {
        type filter hook prerouting priority raw;
        ip daddr 10.0.1.0/24 tcp dport 8080 notrack
        ip saddr 192.0.2.80 notrack
    }
    chain forward {
        type filter hook forward priority filter; policy drop;
        ct state invalid drop
        ct state untracked accept
    }
})"})
            .exitCode != 0)
        GTEST_SKIP() << "needs nft";
    configure(oneService);
    startBalancer();
    const Talker one(*servers_, "10.0.1.11", 8080), two(*servers_, "10.0.1.12", 8080);
    const Talk talk(*clients_, serviceAddress, 80);
    EXPECT_TRUE(talk.echoes(100'000));
    EXPECT_EQ(endBalancer()["services"][0]["backends"][0]["up"], true) << "checks are tracked";
}

TEST_F(BalancerConnections, WrongFilesAreRefused) {
    configure("[[service]]\nport = 1\n");
    const auto wrong = command({TNA_BALANCER, "balancer", directory_ + "/balancer.toml"});
    EXPECT_EQ(wrong.exitCode, 2);
    EXPECT_THAT(wrong.output, ::testing::HasSubstr("balancer.toml:1: 'service' must be with an 'address'"));
    EXPECT_EQ(command({TNA_BALANCER, "balancer", directory_ + "/none"}).exitCode, 2);
}

} // namespace
} // namespace tna::test
