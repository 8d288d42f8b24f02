// SPDX-License-Identifier: Apache-2.0
// An IPv6-only client and an IPv4-only server, by a pool of addresses that Linux routes into a pair of veths.
#include "base/file.hpp"
#include "netns/nat64/nat64_fixture.hpp"
#include "support/ipv4.hpp"
#include "support/ipv6.hpp"
#include "support/packet_port.hpp"
#include "support/transfer.hpp"

#include <csignal>

namespace tna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Nat64 : public Nat64Test {
protected:
    void SetUp() override {
        Nat64Test::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        makeDevice();
        must("ip route add 203.0.113.5 dev n64");
        startTnad();
        declareAs(deviceFunction);
        launchAndWait("--pool 203.0.113.5");
    }
    [[nodiscard]] std::string ping(const std::string& options) const {
        return inClient("ping -6 -n -c 1 -W 5 " + options + " " + serverInIpv6).output;
    }
};

TEST_F(Nat64, PingsAndDatagramsGoBothWays) {
    EXPECT_THAT(ping(""), HasSubstr("1 received"));
    EXPECT_THAT(askServer(), MatchesRegex("203.0.113.5:[0-9]+"));
    EXPECT_THAT(askServer(1400), MatchesRegex("203.0.113.5:[0-9]+"));
    const auto said = endTranslator();
    EXPECT_EQ(said["to_ipv4"], 3) << said;
    EXPECT_EQ(said["to_ipv6"], 3) << said;
    EXPECT_EQ(said["sessions"]["bindings"], 2) << said;
    EXPECT_EQ(said["reasons"]["not-sent"], 0) << said;
}

TEST_F(Nat64, FragmentsGoBothWays) {
    EXPECT_THAT(askServer(4000), MatchesRegex("203.0.113.5:[0-9]+"));
    EXPECT_THAT(askServer(1472, true), MatchesRegex("203.0.113.5:[0-9]+"))
        << "what may be split is, where it is too long for IPv6";
    EXPECT_GT(endTranslator()["fragments_made"], 0);
}

TEST_F(Nat64, ConnectionsGoBothWays) {
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
    const auto said = endTranslator();
    EXPECT_EQ(said["sessions"]["now"], 1) << said;
    EXPECT_EQ(said["reasons"]["malformed"], 0) << said;
}

/// Linux decides that a packet is too long, in the one version; its sender learns it in the other one.
TEST_F(Nat64, PathsOfSmallPacketsAreFound) {
    must("ip link set eth1 mtu 1400");
    ASSERT_EQ(inServer("ip link set wan0 mtu 1400").exitCode, 0);
    EXPECT_THAT(ping("-M do -s 1400"), HasSubstr("mtu=1420"));
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
    must("ip link set eth1 mtu 1500");
    ASSERT_EQ(inServer("ip link set wan0 mtu 1500").exitCode, 0);
    must("ip link set eth0 mtu 1300");
    ASSERT_EQ(inClient("ip link set lan0 mtu 1300").exitCode, 0);
    // the client says that it takes more than its link does
    ASSERT_EQ(inClient("ip -6 route replace default via 2001:db8::1 advmss 1440").exitCode, 0);
    transferBothWays(*client_, *server_, "192.0.2.33", nullptr, serverInIpv6);
    EXPECT_THAT(inServer("ip route get 203.0.113.5").output, HasSubstr("mtu 1280"));
}

TEST_F(Nat64, HopsAreCountedAndTold) {
    EXPECT_THAT(ping("-t 1"), HasSubstr("From 2001:db8::1 icmp_seq=1 Time exceeded"));
    EXPECT_THAT(ping("-t 2"), HasSubstr("From 64:ff9b::c000:201 icmp_seq=1 Time exceeded"));
    EXPECT_THAT(ping("-t 3"), HasSubstr("1 received"));
}

TEST_F(Nat64, WhatIsNotThereIsTold) {
    const auto refused = inClient("ping -6 -n -c 1 -W 8 64:ff9b::c000:299");
    EXPECT_THAT(refused.output, HasSubstr("From 64:ff9b::c000:201 icmp_seq=1 Destination unreachable"))
        << "Linux finds no neighbour";
    EXPECT_THAT(inServer("ping -4 -n -c 1 -W 5 203.0.113.5").output,
                HasSubstr("From 203.0.113.5 icmp_seq=1 Destination Host Unreachable"));
    const auto said = endTranslator();
    EXPECT_EQ(said["answered"], 1) << said;
    EXPECT_EQ(said["reasons"]["no-binding"], 1) << said;
}

/// Every byte, as it leaves the router: one hop for each of Linux's ways, none for the translator.
TEST_F(Nat64, FramesAreWhatARouterWouldMakeOfThem) {
    std::optional<PacketPort> lan, wan;
    const auto client = station(1), server = station(2), lanSide = station(10), wanSide = station(11);
    {
        const auto inside = client_->enter();
        lan.emplace("lan0");
    }
    {
        const auto inside = server_->enter();
        wan.emplace("wan0");
    }
    (void)askServerUntilAnswered(); // neighbours are known
    (void)lan->drain();
    (void)wan->drain();
    Ipv6 six{
        .from = "2001:db8::2", .to = serverInIpv6, .hops = 20, .flow = 0x0b800000, .next = 58, .payload = 40};
    auto frame = ipv6Frame(lanSide, client, six);
    const auto fill = [](Frame& frame, std::size_t at, std::uint8_t type, std::uint16_t checksum) {
        for (std::size_t i = at; i < at + 40; i++)
            frame.bytes[i] = 0;
        frame.bytes[at] = type;
        frame.bytes[at + 2] = static_cast<std::uint8_t>(checksum >> 8U);
        frame.bytes[at + 3] = static_cast<std::uint8_t>(checksum);
        frame.bytes[at + 5] = 9;
    };
    // in words of 16 bits: the type, the identifier, and in IPv6 addresses, length and protocol
    const std::uint32_t pseudo = 0x2001 + 0x0db8 + 2 + 0x64 + 0xff9b + 0xc000 + 0x221 + 40 + 58;
    const auto checksum = [](std::uint32_t sum) {
        return static_cast<std::uint16_t>(~((sum & 0xffffU) + (sum >> 16U)));
    };
    fill(frame, 54, 128, checksum(pseudo + 0x8000 + 9));
    lan->send(frame);
    const auto echoAt = [](const PacketPort& port, std::size_t place, std::uint8_t type) {
        auto frame = port.receive();
        while (frame && (frame->bytes.size() <= place || frame->bytes[place] != type))
            frame = port.receive(); // neighbours that ask for each other
        return frame;
    };
    const auto got = echoAt(*wan, 34, 8);
    ASSERT_TRUE(got);
    auto expected = ipv4Frame(
        server, wanSide,
        {.from = "203.0.113.5", .to = "192.0.2.33", .ttl = 18, .tos = 0xb8, .protocol = 1, .payload = 40});
    expected.bytes[18] = got->bytes[18]; // a number of the translator's
    expected.bytes[19] = got->bytes[19];
    fill(expected, 34, 8, checksum(0x0800 + 9));
    finishIpv4(expected);
    EXPECT_EQ(*got, expected);
    const auto answer = echoAt(*lan, 54, 129);
    ASSERT_TRUE(answer);
    auto back = ipv6Frame(client, lanSide,
                          {.from = serverInIpv6,
                           .to = "2001:db8::2",
                           .hops = 62,
                           .flow = 0x0b800000,
                           .next = 58,
                           .payload = 40});
    fill(back, 54, 129, checksum(pseudo + 0x8100 + 9));
    EXPECT_EQ(*answer, back);
}

TEST_F(Nat64, SessionsOutliveTnad) {
    const auto before = askServerUntilAnswered();
    for (const int signal : {SIGKILL, SIGTERM}) {
        end(signal);
        startTnad();
        declareAs(deviceFunction);
        EXPECT_TRUE(eventually([&] { return state() == "connected"; }));
        EXPECT_EQ(askServerUntilAnswered(), before) << "the same port";
    }
}

TEST_F(Nat64, TranslatorThatIsStartedAgainMakesNewSessions) {
    EXPECT_THAT(askServerUntilAnswered(), MatchesRegex("203.0.113.5:[0-9]+"));
    function_->end(SIGKILL);
    EXPECT_TRUE(eventually([&] { return state() == "nobody"; }));
    EXPECT_EQ(askServer(), "nobody");
    launchAndWait("--pool 203.0.113.5");
    EXPECT_THAT(askServerUntilAnswered(), MatchesRegex("203.0.113.5:[0-9]+"));
    EXPECT_THAT(ping(""), HasSubstr("1 received"));
}

TEST_F(Nat64, StatisticsAreToldWhenAskedFor) {
    (void)askServerUntilAnswered();
    function_->signal(SIGUSR1);
    EXPECT_TRUE(eventually([&] { return said().find("\"to_ipv4\":1") != std::string::npos; }));
}

} // namespace
} // namespace tna::test
