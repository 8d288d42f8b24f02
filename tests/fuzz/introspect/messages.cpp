// SPDX-License-Identifier: Apache-2.0
#include "fuzz/introspect/messages.hpp"

#include "introspect/decode_bridge.hpp"
#include "introspect/decode_ip.hpp"
#include "introspect/decode_link.hpp"
#include "introspect/decode_netfilter.hpp"
#include "introspect/decode_rule_set.hpp"
#include "introspect/decode_tc.hpp"
#include "unit/introspect/message_builder.hpp"

#include <array>
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

MessageBuilder filterRule() {
    nfgenmsg header{};
    header.nfgen_family = NFPROTO_INET;
    MessageBuilder builder(NFNL_SUBSYS_NFTABLES << 8U | NFT_MSG_NEWRULE, header);
    const auto number = [](std::uint8_t value) { return std::array<std::uint8_t, 4>{0, 0, 0, value}; };
    builder.text(NFTA_RULE_TABLE, "t")
        .text(NFTA_RULE_CHAIN, "c")
        .put(NFTA_RULE_USERDATA, std::array<std::uint8_t, 4>{0, 2, 'x', 0})
        .nest(NFTA_RULE_EXPRESSIONS, [&](auto& list) {
            list.nest(NFTA_LIST_ELEM,
                      [&](auto& element) {
                          element.text(NFTA_EXPR_NAME, "cmp").nest(NFTA_EXPR_DATA, [&](auto& data) {
                              data.put(NFTA_CMP_SREG, number(1))
                                  .put(NFTA_CMP_OP, number(0))
                                  .nest(NFTA_CMP_DATA,
                                        [&](auto& value) { value.put(NFTA_DATA_VALUE, number(6)); });
                          });
                      })
                .nest(NFTA_LIST_ELEM, [&](auto& element) {
                    element.text(NFTA_EXPR_NAME, "immediate").nest(NFTA_EXPR_DATA, [&](auto& data) {
                        data.put(NFTA_IMMEDIATE_DREG, number(0)).nest(NFTA_IMMEDIATE_DATA, [&](auto& value) {
                            value.nest(NFTA_DATA_VERDICT, [&](auto& verdict) {
                                verdict.put(NFTA_VERDICT_CODE, number(1)).text(NFTA_VERDICT_CHAIN, "d");
                            });
                        });
                    });
                });
        });
    return builder;
}

MessageBuilder elements() {
    nfgenmsg header{};
    header.nfgen_family = NFPROTO_IPV4;
    MessageBuilder builder(NFNL_SUBSYS_NFTABLES << 8U | NFT_MSG_NEWSETELEM, header);
    builder.text(NFTA_SET_ELEM_LIST_TABLE, "t")
        .text(NFTA_SET_ELEM_LIST_SET, "s")
        .nest(NFTA_SET_ELEM_LIST_ELEMENTS, [](auto& list) {
            list.nest(NFTA_LIST_ELEM, [](auto& element) {
                element.nest(NFTA_SET_ELEM_KEY,
                             [](auto& key) { key.put(NFTA_DATA_VALUE, std::uint32_t{1}); });
            });
        });
    return builder;
}

/// Counts what was understood, and notes what cannot be.
class Findings {
public:
    void understood(bool yes) { decoded.understood += yes ? 1 : 0; }
    void expect(bool holds, const char* what) {
        if (!holds)
            decoded.wrong = what;
    }
    Decoded decoded;
};
} // namespace

std::vector<std::vector<std::byte>> sampleMessages() {
    std::vector<std::vector<std::byte>> messages;
    for (const auto& builder :
         {bridgePort(), bridge(), vlans(), address(), rule(), route(), netconf(), neighbour(),
          traffic(RTM_NEWQDISC), traffic(RTM_NEWTFILTER), chain(), filterRule(), elements()})
        messages.push_back(builder.bytes());
    return messages;
}

Decoded decodeAsEverything(const netlink::Message& message) {
    Findings found;
    if (const auto link = introspect::decodeLink(message)) {
        found.understood(true);
        found.expect(link->link.name.find('\0') == std::string::npos, "a link's name has a zero in it");
    }
    if (const auto decoded = introspect::decodeVlans(message)) {
        found.understood(true);
        for (const auto& vlan : decoded->vlans)
            found.expect(vlan.vid <= highestVlan, "a VLAN has a number that is too high");
        // An entry takes at least its header; it cannot stand for more than all VLANs.
        found.expect(decoded->vlans.size() <=
                         (message.payload.size() / sizeof(nlattr) + 1) * (highestVlan + 1),
                     "more VLANs than there can be");
    }
    if (const auto chain = introspect::decodeChain(message)) {
        found.understood(true);
        found.expect(chain->size() <= message.payload.size(), "more devices of a chain than bytes");
    }
    found.understood(introspect::decodeAddress(message).has_value());
    found.understood(introspect::decodeRule(message).has_value());
    found.understood(introspect::decodeRoute(message).has_value());
    found.understood(introspect::decodeNetconf(message).has_value());
    found.understood(introspect::decodeNeighbour(message).has_value());
    found.understood(introspect::decodeQdisc(message).has_value());
    found.understood(introspect::decodeFilter(message).has_value());
    found.understood(introspect::decodePolicyCount(message).has_value());
    found.understood(introspect::changesRules(message));
    if (const auto rule = introspect::decodeFilterRule(message)) {
        found.understood(true);
        found.expect(rule->rule.expressions.size() <= message.payload.size(), "more expressions than bytes");
    }
    model::RuleElements elements;
    if (const auto count = introspect::decodeElements(message, true, elements)) {
        found.understood(true);
        found.expect(*count <= message.payload.size(), "more elements than bytes");
    }
    found.understood(introspect::decodeGeneration(message).has_value());
    found.understood(introspect::decodeTable(message).has_value());
    found.understood(introspect::decodeRuleChain(message).has_value());
    found.understood(introspect::decodeSet(message).has_value());
    found.understood(introspect::decodeObject(message).has_value());
    found.understood(introspect::decodeRuleFlowtable(message).has_value());
    found.understood(introspect::decodeHookFunction(message).has_value());
    return found.decoded;
}

} // namespace tna::test
