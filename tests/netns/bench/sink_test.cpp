// SPDX-License-Identifier: Apache-2.0
// Whether what goes wrong with frames is counted exactly: frames written by hand, and a device under test
// that loses a known part.
#include "bench/bpf/shared.h"
#include "bench/traffic/load.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

class Sink : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
    }
    void open(const bench::Setup& setup) {
        setup_ = setup;
        auto topology = Topology::make(setup);
        ASSERT_TRUE(topology) << topology.error().sentence();
        topology_.emplace(std::move(*topology));
        auto traffic = Traffic::load(*topology_, setup);
        ASSERT_TRUE(traffic) << traffic.error().sentence();
        traffic_ = std::move(*traffic);
        const auto verified = traffic_->verify(true);
        ASSERT_TRUE(verified) << verified.error().sentence();
    }
    /// From the generator's device, as they are.
    void send(const std::vector<Frame>& frames) {
        const auto inside = NamespaceScope::enter(topology_->generator());
        ASSERT_TRUE(inside);
        const UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        sockaddr_ll to{};
        to.sll_family = AF_PACKET;
        to.sll_protocol = htons(ETH_P_IP);
        to.sll_ifindex = static_cast<int>(::if_nametoindex("g0"));
        for (const auto& frame : frames)
            ASSERT_EQ(::sendto(socket.get(), frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&to),
                               sizeof(to)),
                      static_cast<ssize_t>(frame.size()));
    }
    [[nodiscard]] Frame numbered(unsigned number) const {
        return framesOf(setup_).front().sent(0, SEQUENCE(1, number));
    }

    bench::Setup setup_;
    std::optional<Topology> topology_;
    std::unique_ptr<Traffic> traffic_;
};

TEST_F(Sink, FramesThatComeLateOrTwiceAreCounted) {
    ASSERT_NO_FATAL_FAILURE(open({}));
    std::vector<Frame> frames;
    for (const unsigned number : {0, 1, 3, 2, 2, 3, 10, 9, 200, 199, 150, 100})
        frames.push_back(numbered(number));
    ASSERT_NO_FATAL_FAILURE(send(frames));
    const auto counted = traffic_->settle();
    EXPECT_EQ(counted.received, 12U);
    EXPECT_EQ(counted.wrong, 0U);
    EXPECT_EQ(counted.twice, 2U); // 2 and 3
    EXPECT_EQ(counted.late, 5U);  // 2, 9, 199, 150, 100: of the last nobody knows whether it was there
}

TEST_F(Sink, NumbersMayStartAgain) {
    ASSERT_NO_FATAL_FAILURE(open({}));
    const unsigned last = (1U << SEQUENCE_BITS) - 1;
    std::vector<Frame> frames;
    // In steps that are not taken for being late.
    for (const unsigned number : {0U, last / 3, last / 3 * 2, last - 1, last, 0U, 1U})
        frames.push_back(numbered(number));
    ASSERT_NO_FATAL_FAILURE(send(frames));
    const auto counted = traffic_->settle();
    EXPECT_EQ(counted.received, 7U);
    EXPECT_EQ(counted.late + counted.twice, 0U);
}

TEST_F(Sink, EachChangedByteOfTheStartIsSeen) {
    ASSERT_NO_FATAL_FAILURE(open({}));
    std::vector<Frame> frames;
    // The type, the header behind what a bridge reads, and the payload behind the number and the time.
    for (const std::size_t at : {15U, 22U, 40U, 60U, 63U}) {
        frames.push_back(numbered(static_cast<unsigned>(frames.size())));
        frames.back()[at] ^= 1U;
    }
    frames.push_back(numbered(5));
    frames.back().push_back(0); // longer
    ASSERT_NO_FATAL_FAILURE(send(frames));
    const auto counted = traffic_->settle();
    EXPECT_EQ(counted.received, 6U);
    EXPECT_EQ(counted.wrong, 6U);
}

/// Every other frame is for a station that is where it comes from: Linux drops those.
TEST_F(Sink, SetLossComesOutExactly) {
    ASSERT_NO_FATAL_FAILURE(open({.flows = 2}));
    {
        const auto inside = NamespaceScope::enter(topology_->device());
        ASSERT_TRUE(inside);
        test::must("bridge fdb replace 02:00:00:00:00:01 dev d0 master dynamic");
    }
    const auto before = traffic_->counters();
    {
        const auto load = Load::paced(*traffic_, 20'000);
        EXPECT_TRUE(test::eventually([&] { return traffic_->counters().sent > before.sent + 100; }));
        ASSERT_TRUE(load->stop());
    }
    const auto counted = traffic_->settle().since(before);
    EXPECT_NEAR(static_cast<double>(counted.lost()), static_cast<double>(counted.sent) / 2, 0.5);
    EXPECT_EQ(counted.wrong + counted.late + counted.twice, 0U);
    const auto verified = traffic_->verify(true);
    ASSERT_FALSE(verified);
    EXPECT_THAT(verified.error().sentence(), HasSubstr("1 of 2 frames arrived"));
}

struct Shape {
    const char* name;
    bench::Setup setup;
};
const Shape shapes[] = {
    {"Imix", {.flows = 5, .frameSize = imix}},
    {"Large", {.frameSize = 3000}},
    {"Jumbo", {.flows = 3, .frameSize = 9000}},
    {"JumboThroughARouter", {.scenario = Scenario::router, .frameSize = 9000}},
    {"BySocket", {.flows = 3, .generator = Generator::packet}},
    {"ImixBySocketThroughAnIpv6Router",
     {.scenario = Scenario::router6, .flows = 3, .frameSize = imix, .generator = Generator::packet}},
    {"ByXdpSocket", {.flows = 3, .generator = Generator::xdp}},
    {"ManyPortsAndStations", {.flows = 3, .entries = 100, .ports = 5}},
    {"RoutingRules", {.scenario = Scenario::router, .routingRules = 20}},
    {"Tagged", {.flows = 3, .vlan = 10}},
    {"FilteredByTheBridge", {.flows = 3, .vlan = 10, .vlanFiltering = true}},
    {"Tcp", {.protocol = Protocol::tcp}},
    {"TcpOfIpv6", {.scenario = Scenario::router6, .frameSize = 100, .protocol = Protocol::tcp}},
    {"ImixThroughARouter", {.scenario = Scenario::router, .flows = 5, .frameSize = imix}}};

class Shapes : public Sink, public ::testing::WithParamInterface<Shape> {};

TEST_P(Shapes, ArriveWholeAndComeBack) {
    if (GetParam().setup.vlanFiltering) {
        auto topology = Topology::make(GetParam().setup);
        if (!topology)
            GTEST_SKIP() << "bridges of this kernel do not filter VLANs: " << topology.error().sentence();
    }
    ASSERT_NO_FATAL_FAILURE(open(GetParam().setup));
    {
        Load load{*traffic_, 1, 5000};
        EXPECT_TRUE(test::eventually([&] {
            const auto now = traffic_->counters();
            return now.sent > 1000 && now.sentBack > 0;
        }));
        ASSERT_TRUE(load.stop());
    }
    const auto counted = traffic_->settle();
    EXPECT_EQ(counted.received, counted.sent);
    EXPECT_EQ(counted.wrong + counted.twice, 0U);
    // The number in a frame makes one TCP checksum in 65536 a right one: Linux (GRO) holds that frame back
    // until the end of its poll, to see whether another belongs to it.
    const bool held = GetParam().setup.protocol == Protocol::tcp;
    EXPECT_LE(counted.late, held ? counted.sent / 65536 + 1 : 0);
    EXPECT_EQ(counted.receivedBack, counted.sentBack);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes, ::testing::ValuesIn(shapes),
                         [](const auto& parameter) { return parameter.param.name; });

} // namespace
} // namespace tna::bench
