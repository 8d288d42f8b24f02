// SPDX-License-Identifier: Apache-2.0
// Decoding netlink: what is said is understood, and nothing that is said can do harm.
#include "introspect/link_decode.hpp"
#include "introspect/netlink_socket.hpp"
#include "introspect/summary_decode.hpp"

#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {
namespace {

/// Builds a message body: fixed header, then attributes, nested where wanted.
class Body {
public:
    template <typename Header>
    explicit Body(const Header& header) {
        append(&header, sizeof(header));
    }
    Body() = default;
    template <typename T>
    Body& number(std::uint16_t type, T value) {
        return attribute(type, &value, sizeof(value));
    }
    Body& text(std::uint16_t type, const std::string& value) {
        return attribute(type, value.c_str(), value.size() + 1);
    }
    Body& nest(std::uint16_t type, const Body& inner) {
        return attribute(type, inner.bytes_.data(), inner.bytes_.size());
    }
    [[nodiscard]] Message message(std::uint16_t type) const { return {type, bytes_}; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    Body& attribute(std::uint16_t type, const void* data, std::size_t size) {
        const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + size), type};
        append(&header, sizeof(header));
        append(data, size);
        return *this;
    }
    void append(const void* data, std::size_t size) {
        const auto* start = static_cast<const std::byte*>(data);
        bytes_.insert(bytes_.end(), start, start + size);
        bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
    }
    std::vector<std::byte> bytes_;
};

Body bridgePort() {
    ifinfomsg header{};
    header.ifi_index = 5;
    header.ifi_type = 1;
    header.ifi_flags = 1;
    Body slave;
    slave.number<std::uint8_t>(IFLA_BRPORT_STATE, 3).number<std::uint8_t>(IFLA_BRPORT_LEARNING, 0);
    slave.number<std::uint8_t>(IFLA_BRPORT_ISOLATED, 1).number<std::uint32_t>(IFLA_BRPORT_COST, 7);
    Body info;
    info.text(IFLA_INFO_KIND, "veth").text(IFLA_INFO_SLAVE_KIND, "bridge").nest(IFLA_INFO_SLAVE_DATA, slave);
    Body body{header};
    body.text(IFLA_IFNAME, "p0").number<std::uint32_t>(IFLA_MASTER, 2).number<std::uint32_t>(IFLA_MTU, 1500);
    body.nest(IFLA_LINKINFO, info);
    Body xdp;
    xdp.number<std::uint8_t>(IFLA_XDP_ATTACHED, XDP_ATTACHED_DRV).number<std::uint32_t>(IFLA_XDP_PROG_ID, 42);
    return body.nest(IFLA_XDP, xdp);
}

TEST(DecodeLink, BridgePortWithItsSettings) {
    const auto body = bridgePort();
    const auto link = decodeLink(body.message(RTM_NEWLINK));
    ASSERT_TRUE(link);
    EXPECT_EQ(link->name, "p0");
    EXPECT_EQ(link->kind, "veth");
    EXPECT_EQ(link->master, 2U);
    EXPECT_TRUE(link->up());
    ASSERT_TRUE(link->bridgePort);
    EXPECT_EQ(link->bridgePort->state, model::StpState::forwarding);
    EXPECT_FALSE(link->bridgePort->learning);
    EXPECT_TRUE(link->bridgePort->isolated);
    EXPECT_EQ(link->bridgePort->cost, 7U);
    EXPECT_EQ(link->xdp.driverProgram, 42U);
}

TEST(DecodeLink, BridgeWithItsOptions) {
    ifinfomsg header{};
    header.ifi_index = 2;
    Body data;
    data.number<std::uint32_t>(IFLA_BR_AGEING_TIME, 1000).number<std::uint8_t>(IFLA_BR_VLAN_FILTERING, 1);
    Body info;
    info.text(IFLA_INFO_KIND, "bridge").nest(IFLA_INFO_DATA, data);
    Body body{header};
    body.text(IFLA_IFNAME, "br0").nest(IFLA_LINKINFO, info);
    const auto link = decodeLink(body.message(RTM_NEWLINK));
    ASSERT_TRUE(link && link->bridge);
    EXPECT_EQ(link->bridge->ageingTime, 1000U);
    EXPECT_TRUE(link->bridge->vlanFiltering);
    EXPECT_FALSE(link->bridgePort);
}

TEST(DecodeLink, TruncatedAnywhereIsSurvived) {
    const auto body = bridgePort();
    for (std::size_t size = 0; size < body.bytes().size(); size++) {
        // A copy of just that size, so that reading beyond it is seen by the sanitizer.
        const std::vector<std::byte> part(body.bytes().begin(),
                                          body.bytes().begin() + static_cast<long>(size));
        const auto link = decodeLink(Message{RTM_NEWLINK, part});
        EXPECT_TRUE(!link || link->name == "p0") << size;
    }
}

TEST(DecodeLink, AnySingleWrongByteIsSurvived) {
    const auto body = bridgePort();
    for (std::size_t at = 0; at < body.bytes().size(); at++)
        for (const int value : {0, 1, 3, 0x7f, 0xff}) {
            auto bytes = body.bytes();
            bytes[at] = static_cast<std::byte>(value);
            const auto link = decodeLink(Message{RTM_NEWLINK, bytes});
            EXPECT_TRUE(!link || link->ifindex > 0);
        }
}

TEST(DecodeVlans, ListWithPvid) {
    ifinfomsg header{};
    header.ifi_family = AF_BRIDGE;
    header.ifi_index = 5;
    Body spec;
    spec.number(IFLA_BRIDGE_VLAN_INFO,
                bridge_vlan_info{BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED, 1});
    spec.number(IFLA_BRIDGE_VLAN_INFO, bridge_vlan_info{0, 10});
    Body body{header};
    body.nest(IFLA_AF_SPEC, spec);
    const auto found = decodeVlans(body.message(RTM_NEWLINK));
    ASSERT_TRUE(found);
    ASSERT_EQ(found->vlans.size(), 2U);
    EXPECT_TRUE(found->vlans[0].pvid && found->vlans[0].untagged);
    EXPECT_EQ(found->vlans[1].vid, 10);
}

TEST(DecodeNeighbour, FdbEntryNamesItsBridge) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_ifindex = 5;
    header.ndm_state = NUD_PERMANENT;
    Body body{header};
    body.number<std::uint32_t>(NDA_MASTER, 2);
    const auto neighbour = decodeNeighbour(body.message(RTM_NEWNEIGH));
    ASSERT_TRUE(neighbour);
    EXPECT_TRUE(neighbour->bridge);
    EXPECT_EQ(neighbour->master, 2U);
}

TEST(DecodeRoute, TableBeyond255IsInItsAttribute) {
    rtmsg header{};
    header.rtm_family = AF_INET;
    header.rtm_table = RT_TABLE_COMPAT;
    header.rtm_type = RTN_BLACKHOLE;
    Body body{header};
    body.number<std::uint32_t>(RTA_TABLE, 1000);
    const auto route = decodeRoute(body.message(RTM_NEWROUTE));
    ASSERT_TRUE(route);
    EXPECT_EQ(route->table, 1000U);
    EXPECT_EQ(route->type, "blackhole");
}

TEST(Messages, LengthsThatLieEndTheDatagram) {
    std::vector<std::byte> datagram(sizeof(nlmsghdr) * 2);
    nlmsghdr header{};
    header.nlmsg_len = sizeof(nlmsghdr);
    std::memcpy(datagram.data(), &header, sizeof(header));
    for (const std::uint32_t length : {0U, 15U, 17U, 0xffffffffU}) {
        header.nlmsg_len = length;
        std::memcpy(datagram.data() + sizeof(header), &header, sizeof(header));
        int seen = 0;
        forEachMessage(datagram, [&](const nlmsghdr&, const Message&) { seen++; });
        EXPECT_EQ(seen, 1) << length;
    }
}

} // namespace
} // namespace tna::introspect
