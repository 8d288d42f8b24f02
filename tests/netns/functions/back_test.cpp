// SPDX-License-Identifier: Apache-2.0
// What Linux makes of a frame that a function gives back is what it makes of one that has just come in.
#include "netns/functions/functions_fixture.hpp"
#include "support/ipv4.hpp"

namespace tna::test {
namespace {

struct Given {
    const char* name;
    Frame frame;
};
void PrintTo(const Given& given, std::ostream* out) {
    *out << given.name;
}

Frame tagged(std::uint16_t protocol, std::uint16_t tci) {
    return FrameBuilder().ethernet(station(2), station(1)).vlan(protocol, tci).udp();
}

const Mac broadcast{255, 255, 255, 255, 255, 255};
const Mac group{1, 0, 0x5e, 1, 2, 3};

std::vector<Given> all() {
    auto ofLength = FrameBuilder().ethernet(station(2), station(1)).etherType(60);
    return {{"Known", FrameBuilder().ethernet(station(2), station(1)).udp()},
            {"Unknown", FrameBuilder().ethernet(station(77), station(1)).udp()},
            {"Broadcast", FrameBuilder().ethernet(broadcast, station(1)).etherType(0x88b5).raw(46)},
            {"Multicast", FrameBuilder().ethernet(group, station(1)).udp()},
            {"ToItsOwnSide", FrameBuilder().ethernet(station(1), station(1)).udp()},
            {"Tagged", tagged(0x8100, 5)},
            {"PriorityTagged", tagged(0x8100, 0x6000)},
            {"ServiceTagged", tagged(0x88a8, 7)},
            {"TaggedTwice",
             FrameBuilder().ethernet(station(2), station(1)).vlan(0x88a8, 7).vlan(0x8100, 5).udp()},
            {"TaggedAsTheWayBack", tagged(0x88a8, 0)},
            {"Arp", FrameBuilder().ethernet(station(2), station(1)).etherType(0x0806).raw(46)},
            {"LogicalLink", ofLength.raw(60)},
            {"NoIp", FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b5).raw(100)},
            {"Long", FrameBuilder().ethernet(station(2), station(1)).udp(1472)}};
}

class Back : public FunctionsTest, public ::testing::WithParamInterface<Given> {
protected:
    void SetUp() override { FunctionsTest::SetUp(); }
    /// What comes out at both far ends.
    [[nodiscard]] std::vector<std::vector<Frame>> treat(const Frame& frame) {
        for (unsigned port = 0; port < 2; port++)
            (void)far(port).drain();
        far(0).send(frame);
        const auto last = FrameBuilder().ethernet(station(2), station(1)).etherType(0x88b6).raw(46);
        far(0).send(last);
        std::vector<std::vector<Frame>> out(2);
        while (auto found = arrivesAt(1))
            if (*found == last)
                break;
            else
                out[1].push_back(std::move(*found));
        out[0] = far(0).drain();
        return out;
    }
};

TEST_P(Back, IsTreatedByABridgeLikeAFrameThatComesIn) {
    startTnad();
    const auto alone = treat(GetParam().frame);
    ASSERT_EQ(declare("all", "users = [\"nobody\"]\nports = [\"p0\"]\n[[rule]]\n"), "");
    startWorkload("back", "all");
    ASSERT_TRUE(becomes("all", "connected"));
    EXPECT_EQ(treat(GetParam().frame), alone);
    const auto document = functionNamed("all");
    EXPECT_EQ(document["rules"][0]["packets"], 2) << "it has had both: " << document;
}

TEST_P(Back, IsTheSameBehindASecondFunction) {
    startTnad();
    const auto alone = treat(GetParam().frame);
    ASSERT_EQ(declare("first", "users = [\"nobody\"]\nports = [\"p0\"]\ngiven_back = \"next\"\n[[rule]]\n"
                               "priority = 1\n"),
              "");
    ASSERT_EQ(declare("second", "users = [\"nobody\"]\nports = [\"p0\"]\nqueues = []\n[[rule]]\n"), "");
    startWorkload("back", "first");
    const auto first = std::move(workload_);
    startWorkload("back", "second");
    ASSERT_TRUE(becomes("first", "connected"));
    ASSERT_TRUE(becomes("second", "connected"));
    EXPECT_EQ(treat(GetParam().frame), alone);
    for (const auto* name : {"first", "second"})
        EXPECT_EQ(functionNamed(name)["rules"][0]["packets"], 2) << functionNamed(name);
}

INSTANTIATE_TEST_SUITE_P(Frames, Back, ::testing::ValuesIn(all()),
                         [](const auto& parameter) { return parameter.param.name; });

class BackToHost : public FunctionsTest {};

/// Routed, with netfilter before and after.
TEST_F(BackToHost, IsRoutedAndFiltered) {
    must("ip link set p0 nomaster");
    must("ip link set p1 nomaster");
    must("ip address add 10.0.0.254/24 dev p0");
    must("ip address add 10.0.1.254/24 dev p1");
    must("ip neighbour add 10.0.1.2 lladdr 02:00:00:00:00:02 dev p1");
    sysctl("net.ipv4.ip_forward", "1");
    const Mac router = station(0xff00);
    must("ip link set p0 address " + text(router));
    start();
    ASSERT_TRUE(accelerated()) << stateOf("p0");
    auto packet = FrameBuilder().ethernet(router, station(1)).udp();
    packet.bytes[32] = 1; // to 10.0.1.2
    finishIpv4(packet);
    const auto sent = [&] {
        far(0).send(packet);
        return far(1).receive(std::chrono::seconds(2));
    };
    const auto alone = sent();
    ASSERT_TRUE(alone);
    ASSERT_EQ(declare("all", "users = [\"nobody\"]\nports = [\"p0\"]\n[[rule]]\nprotocol = \"udp\"\n"), "");
    startWorkload("back", "all");
    ASSERT_TRUE(becomes("all", "connected"));
    EXPECT_EQ(sent(), alone);
    if (command({"nft", "add table ip t; add chain ip t c { type filter hook forward priority 0; }; "
                        "add rule ip t c iifname p0 meta mark 0 counter drop"})
            .exitCode != 0)
        GTEST_SKIP() << "needs nft";
    EXPECT_EQ(sent(), std::nullopt) << "rules see it come in by p0";
}

} // namespace
} // namespace tna::test
