// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_bridge.hpp"
#include "introspect/decode_link.hpp"
#include "message_builder.hpp"

#include <array>
#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

using introspect::decodeLink;
using introspect::decodeVlans;

ifinfomsg linkHeader(unsigned char family = AF_UNSPEC) {
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_type = 1;
    header.ifi_index = 5;
    header.ifi_flags = 0x10043;
    return header;
}

MessageBuilder portMessage() {
    MessageBuilder builder(RTM_NEWLINK, linkHeader());
    builder.text(IFLA_IFNAME, "swp1")
        .put(IFLA_MASTER, std::uint32_t{9})
        .put(IFLA_MTU, std::uint32_t{9000})
        .put(IFLA_MAX_MTU, std::uint32_t{9710})
        .put(IFLA_CARRIER, std::uint8_t{1})
        .put(IFLA_ADDRESS, std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 7})
        .text(IFLA_QDISC, "mq")
        .put(IFLA_PHYS_SWITCH_ID, std::uint32_t{1})
        .nest(IFLA_XDP, [](auto& xdp) { xdp.put(IFLA_XDP_DRV_PROG_ID, std::uint32_t{42}); })
        .nest(IFLA_LINKINFO, [](auto& info) {
            info.text(IFLA_INFO_SLAVE_KIND, "bridge").nest(IFLA_INFO_SLAVE_DATA, [](auto& port) {
                port.put(IFLA_BRPORT_STATE, std::uint8_t{3})
                    .put(IFLA_BRPORT_LEARNING, std::uint8_t{0})
                    .put(IFLA_BRPORT_BACKUP_PORT, std::uint32_t{6})
                    .put(40, std::uint8_t{1})
                    .put(43, std::uint8_t{1})
                    .put(44, std::uint32_t{99});
            });
        });
    return builder;
}

TEST(DecodeLink, ReadsAPortWithAttributesNewerThanTheHeaders) {
    const auto bytes = portMessage().bytes();
    const auto decoded = decodeLink(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    EXPECT_FALSE(decoded->removed);
    EXPECT_FALSE(decoded->bridgeFamily);
    const auto& link = decoded->link;
    EXPECT_EQ(link.ifindex, 5U);
    EXPECT_EQ(link.name, "swp1");
    EXPECT_EQ(link.master, 9U);
    EXPECT_EQ(link.mtu, 9000U);
    EXPECT_EQ(link.maxMtu, 9710U);
    EXPECT_EQ(link.flags, 0x10043U);
    EXPECT_TRUE(link.carrier);
    EXPECT_TRUE(link.switchPort);
    EXPECT_EQ(link.mac.text(), "02:00:00:00:00:07");
    EXPECT_EQ(link.rootQdisc, "mq");
    EXPECT_EQ(link.xdp.driverProgram, 42U);
    ASSERT_TRUE(link.bridgePort);
    EXPECT_EQ(link.bridgePort->state, model::StpState::forwarding);
    EXPECT_FALSE(link.bridgePort->learning);
    EXPECT_TRUE(link.bridgePort->unicastFlood);
    EXPECT_EQ(link.bridgePort->backupPort, 6U);
    EXPECT_TRUE(link.bridgePort->mab);
    EXPECT_TRUE(link.bridgePort->neighVlanSuppress);
    EXPECT_EQ(link.bridgePort->backupNextHop, 99U);
}

TEST(DecodeLink, ReadsABridge) {
    MessageBuilder builder(RTM_NEWLINK, linkHeader());
    builder.text(IFLA_IFNAME, "br0").nest(IFLA_LINKINFO, [](auto& info) {
        info.text(IFLA_INFO_KIND, "bridge").nest(IFLA_INFO_DATA, [](auto& data) {
            data.put(IFLA_BR_AGEING_TIME, std::uint32_t{777})
                .put(IFLA_BR_VLAN_PROTOCOL, std::array<std::uint8_t, 2>{0x88, 0xa8})
                .put(IFLA_BR_VLAN_FILTERING, std::uint8_t{1})
                .put(IFLA_BR_MULTI_BOOLOPT, br_boolopt_multi{5, 7})
                .put(49, std::uint32_t{1000});
        });
    });
    const auto bytes = builder.bytes();
    const auto decoded = decodeLink(firstMessage(bytes));
    ASSERT_TRUE(decoded && decoded->link.bridge);
    EXPECT_EQ(decoded->link.bridge->ageingTime, 777U);
    EXPECT_EQ(decoded->link.bridge->vlanProtocol, 0x88a8);
    EXPECT_TRUE(decoded->link.bridge->vlanFiltering);
    EXPECT_EQ(decoded->link.bridge->multiOptions, 5U);
    EXPECT_EQ(decoded->link.bridge->fdbMaxLearned, 1000U);
    EXPECT_FALSE(decoded->link.bridgePort);
}

TEST(DecodeLink, TellsALinkThatLeftItsBridgeFromALinkThatIsGone) {
    MessageBuilder builder(RTM_DELLINK, linkHeader(AF_BRIDGE));
    builder.text(IFLA_IFNAME, "swp1").put(IFLA_MASTER, std::uint32_t{9});
    const auto bytes = builder.bytes();
    const auto decoded = decodeLink(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(decoded->bridgeFamily);
    EXPECT_TRUE(decoded->removed);
}

TEST(DecodeLink, RefusesALinkWithoutANameOrIndex) {
    const auto nameless = MessageBuilder(RTM_NEWLINK, linkHeader()).bytes();
    EXPECT_FALSE(decodeLink(firstMessage(nameless)));
    const auto noIndex = MessageBuilder(RTM_NEWLINK, ifinfomsg{}).text(IFLA_IFNAME, "x").bytes();
    EXPECT_FALSE(decodeLink(firstMessage(noIndex)));
}

TEST(DecodeLink, RefusesAPortWhoseOptionsAreCut) {
    auto bytes = portMessage().bytes();
    // The length of the last attribute, inside three nests, claims more than there is.
    bytes[bytes.size() - 8] = std::byte{0x30};
    EXPECT_FALSE(decodeLink(firstMessage(bytes)));
}

TEST(DecodeLink, SurvivesEveryMutilation) {
    unsigned tried = 0;
    decodeEveryMutilation(portMessage(), [&](const netlink::Message& message) {
        ++tried;
        if (const auto decoded = decodeLink(message)) {
            EXPECT_NE(decoded->link.ifindex, 0U);
        }
    });
    EXPECT_GT(tried, portMessage().size());
}

MessageBuilder vlanMessage() {
    br_vlan_msg header{};
    header.family = AF_BRIDGE;
    header.ifindex = 5;
    MessageBuilder builder(RTM_NEWVLAN, header);
    builder
        .nest(BRIDGE_VLANDB_ENTRY,
              [](auto& entry) {
                  entry.put(BRIDGE_VLANDB_ENTRY_INFO, bridge_vlan_info{BRIDGE_VLAN_INFO_PVID, 1})
                      .put(BRIDGE_VLANDB_ENTRY_STATE, std::uint8_t{4});
              })
        .nest(BRIDGE_VLANDB_ENTRY, [](auto& entry) {
            entry.put(BRIDGE_VLANDB_ENTRY_INFO, bridge_vlan_info{BRIDGE_VLAN_INFO_UNTAGGED, 10})
                .put(BRIDGE_VLANDB_ENTRY_RANGE, std::uint16_t{11});
        });
    return builder;
}

TEST(DecodeVlans, ExpandsRanges) {
    const auto bytes = vlanMessage().bytes();
    const auto decoded = decodeVlans(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    const std::vector<model::BridgeVlan> expected{
        {1, true, false, model::StpState::blocking}, {10, false, true}, {11, false, true}};
    EXPECT_EQ(decoded->ifindex, 5U);
    EXPECT_EQ(decoded->vlans, expected);
}

TEST(DecodeVlans, SurvivesEveryMutilation) {
    unsigned tried = 0;
    decodeEveryMutilation(vlanMessage(), [&](const netlink::Message& message) {
        ++tried;
        if (const auto decoded = decodeVlans(message)) {
            EXPECT_LT(decoded->vlans.size(), 2 * 4095U);
        }
    });
    EXPECT_GT(tried, vlanMessage().size());
}

} // namespace
} // namespace tna::test
