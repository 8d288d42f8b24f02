// SPDX-License-Identifier: Apache-2.0
// Netlink messages with random faults, through every decoder. Each lies in memory that ends where it ends, so
// that the address sanitizer (preset asan) sees every step too far.
#include "introspect/decode_bridge.hpp"
#include "introspect/decode_ip.hpp"
#include "introspect/decode_link.hpp"
#include "introspect/decode_netfilter.hpp"
#include "introspect/decode_tc.hpp"
#include "support/mangle.hpp"
#include "unit/introspect/message_builder.hpp"

#include <array>
#include <gtest/gtest.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

constexpr unsigned rounds = 150000;
constexpr std::size_t highestVlan = 4095;

MessageBuilder bridgePort() {
    ifinfomsg header{};
    header.ifi_index = 5;
    MessageBuilder builder(RTM_NEWLINK, header);
    builder.text(IFLA_IFNAME, "swp1")
        .put(IFLA_MASTER, std::uint32_t{9})
        .put(IFLA_ADDRESS, std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 7})
        .nest(IFLA_XDP, [](auto& xdp) { xdp.put(IFLA_XDP_DRV_PROG_ID, std::uint32_t{42}); })
        .nest(IFLA_LINKINFO, [](auto& info) {
            info.text(IFLA_INFO_SLAVE_KIND, "bridge").nest(IFLA_INFO_SLAVE_DATA, [](auto& port) {
                port.put(IFLA_BRPORT_STATE, std::uint8_t{3}).put(IFLA_BRPORT_LEARNING, std::uint8_t{0});
            });
        });
    return builder;
}

MessageBuilder bridge() {
    ifinfomsg header{};
    header.ifi_index = 9;
    MessageBuilder builder(RTM_NEWLINK, header);
    builder.text(IFLA_IFNAME, "br0").nest(IFLA_LINKINFO, [](auto& info) {
        info.text(IFLA_INFO_KIND, "bridge").nest(IFLA_INFO_DATA, [](auto& data) {
            data.put(IFLA_BR_AGEING_TIME, std::uint32_t{30000})
                .put(IFLA_BR_STP_STATE, std::uint32_t{1})
                .put(IFLA_BR_VLAN_FILTERING, std::uint8_t{1})
                .put(IFLA_BR_MULTI_BOOLOPT, std::uint64_t{0x700000007});
        });
    });
    return builder;
}

MessageBuilder vlans() {
    br_vlan_msg header{};
    header.family = AF_BRIDGE;
    header.ifindex = 5;
    MessageBuilder builder(RTM_NEWVLAN, header);
    for (const std::uint16_t vid : std::initializer_list<std::uint16_t>{1, 100})
        builder.nest(BRIDGE_VLANDB_ENTRY, [&](auto& entry) {
            bridge_vlan_info info{};
            info.vid = vid;
            entry.put(BRIDGE_VLANDB_ENTRY_INFO, info)
                .put(BRIDGE_VLANDB_ENTRY_RANGE, static_cast<std::uint16_t>(vid + 50));
        });
    return builder;
}

MessageBuilder address() {
    ifaddrmsg header{};
    header.ifa_family = AF_INET;
    header.ifa_prefixlen = 24;
    header.ifa_index = 5;
    MessageBuilder builder(RTM_NEWADDR, header);
    builder.put(IFA_LOCAL, std::uint32_t{0x0100000a}).put(IFA_ADDRESS, std::uint32_t{0x0100000a});
    return builder;
}

MessageBuilder rule() {
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.table = 254;
    MessageBuilder builder(RTM_NEWRULE, header);
    builder.put(FRA_PRIORITY, std::uint32_t{100})
        .put(FRA_TABLE, std::uint32_t{300})
        .text(FRA_IIFNAME, "eth0");
    return builder;
}

MessageBuilder route() {
    rtmsg header{};
    header.rtm_family = AF_INET;
    header.rtm_table = RT_TABLE_MAIN;
    header.rtm_type = RTN_UNICAST;
    MessageBuilder builder(RTM_NEWROUTE, header);
    builder.put(RTA_TABLE, std::uint32_t{300}).put(RTA_OIF, std::uint32_t{5});
    return builder;
}

MessageBuilder netconf() {
    netconfmsg header{};
    header.ncm_family = AF_INET;
    MessageBuilder builder(RTM_NEWNETCONF, header);
    builder.put(NETCONFA_IFINDEX, std::int32_t{5}).put(NETCONFA_FORWARDING, std::int32_t{1});
    return builder;
}

MessageBuilder neighbour() {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_ifindex = 5;
    MessageBuilder builder(RTM_NEWNEIGH, header);
    builder.put(NDA_LLADDR, std::array<std::uint8_t, 6>{2, 0, 0, 0, 0, 7}).put(NDA_MASTER, std::uint32_t{9});
    return builder;
}

MessageBuilder traffic(std::uint16_t type) {
    tcmsg header{};
    header.tcm_ifindex = 5;
    header.tcm_handle = 0x10000;
    MessageBuilder builder(type, header);
    builder.text(TCA_KIND, "fq_codel").nest(TCA_OPTIONS, [](auto& options) {
        options.put(1, std::uint32_t{1});
    });
    return builder;
}

MessageBuilder chain() {
    nfgenmsg header{};
    header.nfgen_family = NFPROTO_NETDEV;
    MessageBuilder builder(NFNL_SUBSYS_NFTABLES << 8U | NFT_MSG_NEWCHAIN, header);
    builder.text(NFTA_CHAIN_TABLE, "t").text(NFTA_CHAIN_NAME, "c").nest(NFTA_CHAIN_HOOK, [](auto& hook) {
        hook.put(NFTA_HOOK_HOOKNUM, std::uint32_t{0}).nest(NFTA_HOOK_DEVS, [](auto& devices) {
            devices.text(NFTA_DEVICE_NAME, "eth0").text(NFTA_DEVICE_NAME, "eth1");
        });
    });
    return builder;
}

/// Whatever a message claims to be: no decoder may be hurt by any message. How many understood it.
unsigned decodeAsEverything(const introspect::Message& message) {
    unsigned understood = 0;
    if (const auto link = introspect::decodeLink(message)) {
        understood++;
        EXPECT_EQ(link->link.name.find('\0'), std::string::npos);
    }
    if (const auto decoded = introspect::decodeVlans(message)) {
        understood++;
        for (const auto& vlan : decoded->vlans)
            EXPECT_LE(vlan.vid, highestVlan);
        // An entry takes at least its header; it cannot stand for more than all VLANs.
        EXPECT_LE(decoded->vlans.size(), (message.payload.size() / sizeof(nlattr) + 1) * (highestVlan + 1));
    }
    if (const auto chain = introspect::decodeChain(message)) {
        understood++;
        EXPECT_LE(chain->size(), message.payload.size());
    }
    understood += introspect::decodeAddress(message).has_value();
    understood += introspect::decodeRule(message).has_value();
    understood += introspect::decodeRoute(message).has_value();
    understood += introspect::decodeNetconf(message).has_value();
    understood += introspect::decodeNeighbour(message).has_value();
    understood += introspect::decodeQdisc(message).has_value();
    understood += introspect::decodeFilter(message).has_value();
    understood += introspect::decodePolicyCount(message).has_value();
    understood += introspect::changesRules(message);
    return understood;
}

TEST(FuzzDecoders, SpoiltMessagesHarmNobody) {
    std::vector<std::vector<std::byte>> seeds;
    for (const auto& builder : {bridgePort(), bridge(), vlans(), address(), rule(), route(), netconf(),
                                neighbour(), traffic(RTM_NEWQDISC), traffic(RTM_NEWTFILTER), chain()})
        seeds.push_back(builder.bytes());
    Mangler mangler(1);
    std::uint64_t messages = 0, understood = 0;
    for (unsigned i = 0; i < rounds; i++) {
        auto bytes = seeds[mangler.below(seeds.size())];
        if (mangler.below(4) == 0) {
            const auto& second = seeds[mangler.below(seeds.size())];
            bytes.insert(bytes.end(), second.begin(), second.end());
        }
        bytes = mangler.mangle(std::move(bytes));
        bytes.shrink_to_fit();
        introspect::Bytes rest(bytes);
        while (const auto message = introspect::Message::next(rest)) {
            messages++;
            understood += decodeAsEverything(*message);
        }
    }
    EXPECT_GT(messages, rounds / 4) << "nearly nothing got past the first header";
    EXPECT_GT(understood, rounds / 4) << "nearly nothing was decoded";
}

/// Any bytes at all, as attributes nested in attributes.
TEST(FuzzDecoders, RandomBytesAreNoAttributes) {
    Mangler mangler(2);
    for (unsigned i = 0; i < rounds; i++) {
        std::vector<std::byte> bytes(mangler.below(64));
        for (auto& byte : bytes)
            byte = static_cast<std::byte>(mangler.below(mangler.below(2) == 0 ? 16 : 256));
        const auto attributes = introspect::Attributes::parse(bytes);
        if (!attributes)
            continue;
        std::size_t payload = 0;
        attributes->forEach([&](const introspect::Attribute& attribute) {
            payload += attribute.payload.size() + sizeof(nlattr);
            (void)introspect::Attributes::parse(attribute.payload);
        });
        EXPECT_LE(payload, bytes.size());
    }
}

} // namespace
} // namespace tna::test
