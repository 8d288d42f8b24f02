// SPDX-License-Identifier: Apache-2.0
// Servers that have the service's address themselves, and answer past tna-balancer.
#include "netns/balancer/balancer_fixture.hpp"

#include "support/command.hpp"
#include "support/packet_port.hpp"
#include "support/packets.hpp"

#include <fmt/format.h>

namespace tna::test {
namespace {

/// Of the router's ports, and of the hosts behind them, as the fixture has them.
const Mac eth0 = station(10), eth1 = station(11), client = station(1), server = station(2);

std::string directService(const std::string& place, const std::string& device) {
    return fmt::format(
        "[[service]]\naddress = \"192.0.2.80\"\n{}\nmode = \"direct\"\ncheck = {{ kind = \"none\" }}\n"
        "[[service.backend]]\naddress = \"10.0.1.11\"\nmac = \"{}\"\ndevice = \"{}\"\n",
        place, text(server), device);
}

Frame frameOf(const Mac& to, const Mac& from, const std::vector<std::uint8_t>& packet) {
    Frame frame;
    frame.bytes.insert(frame.bytes.end(), to.begin(), to.end());
    frame.bytes.insert(frame.bytes.end(), from.begin(), from.end());
    frame.bytes.insert(frame.bytes.end(), {0x08, 0x00});
    frame.bytes.insert(frame.bytes.end(), packet.begin(), packet.end());
    return frame;
}

class BalancerDirect : public BalancerTest {};

/// As a router sends them that has the server for its next hop, but for the time to live.
TEST_F(BalancerDirect, FramesHaveOtherMacAddressesAndAreTheSame) {
    startTnad();
    declare();
    configure(directService("protocol = \"udp\"\nport = 53", "eth1"));
    startBalancer();
    const auto packet = packets::udpPacket({"198.51.100.2", "192.0.2.80", 4000, 53}, packets::Bytes(200, 7));
    std::optional<PacketPort> from, to;
    {
        const auto inside = clients_->enter();
        from.emplace("lan0");
    }
    {
        const auto inside = servers_->enter();
        to.emplace("rack0");
    }
    from->send(frameOf(eth0, client, packet));
    const auto expected = frameOf(server, eth1, packet);
    Frame got;
    EXPECT_TRUE(eventually([&] {
        for (auto& frame : to->drain()) // other hosts say something, too
            if (frame.bytes.size() == expected.bytes.size())
                got = std::move(frame);
        return !got.bytes.empty();
    }));
    EXPECT_EQ(got, expected);
}

TEST_F(BalancerDirect, ServersAnswerClientsByThemselves) {
    startTnad();
    declare();
    {
        const auto inside = servers_->enter();
        must("ip address add 192.0.2.80/32 dev lo");
    }
    const Talker talker(*servers_, serviceAddress, 80);
    configure(directService("port = 80", "eth1"));
    startBalancer();
    {
        const Talk talk(*clients_, serviceAddress, 80);
        EXPECT_EQ(talk.with(), serviceAddress);
        EXPECT_TRUE(talk.echoes(1000));
        EXPECT_EQ(talker.lastClient(), talk.self()) << "the client's own address";
    }
    const auto all = endBalancer();
    EXPECT_GT(all["outcomes"]["sent"], 3) << all;
    EXPECT_EQ(all["outcomes"]["forwarded"], 0) << all;
    EXPECT_EQ(all["outcomes"]["replied"], 0) << all;
    EXPECT_EQ(all["services"][0]["backends"][0]["chosen"], 1) << all;
}

TEST_F(BalancerDirect, FramesForADeviceThatIsNotThereAreCounted) {
    startTnad();
    declare();
    configure(directService("port = 80", "eth9"));
    startBalancer();
    EXPECT_EQ(Talk(*clients_, serviceAddress, 80).with(), "");
    EXPECT_GT(endBalancer()["outcomes"]["not-sent"], 0);
}

} // namespace
} // namespace tna::test
