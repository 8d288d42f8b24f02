// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/mac.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tna::model {

using IfIndex = std::uint32_t;

/// IFF_* of linux/if.h; the model includes no system header, deploy and introspect assert the values.
namespace link_flag {
inline constexpr std::uint32_t up = 1U << 0;
inline constexpr std::uint32_t loopback = 1U << 3;
inline constexpr std::uint32_t running = 1U << 6;
inline constexpr std::uint32_t promisc = 1U << 8;
inline constexpr std::uint32_t lowerUp = 1U << 16;
} // namespace link_flag

enum class StpState : std::uint8_t { disabled, listening, learning, forwarding, blocking };
[[nodiscard]] const char* toString(StpState state);

/// A VLAN configured on a bridge port or on the bridge itself.
struct BridgeVlan {
    std::uint16_t vid = 0;
    bool pvid = false;
    bool untagged = false;
    StpState state = StpState::forwarding;
    bool operator==(const BridgeVlan&) const = default;
};

/// IFLA_BR_*: the options of a bridge device. Times are in clock ticks of 1/100 s, as netlink has them.
struct BridgeOptions {
    std::uint32_t ageingTime = 30000;
    std::uint32_t forwardDelay = 1500;
    std::uint32_t helloTime = 200;
    std::uint32_t maxAge = 2000;
    std::uint32_t stpState = 0; ///< 0 off, 1 kernel, 2 user space
    std::uint16_t priority = 0x8000;
    bool vlanFiltering = false;
    std::uint16_t vlanProtocol = 0x8100;
    std::uint16_t defaultPvid = 1;
    bool vlanStats = false; ///< frames are counted by VLAN
    std::uint16_t groupFwdMask = 0;
    bool mcastSnooping = true;
    bool mcastQuerier = false;
    bool nfCallIptables = false;
    bool nfCallIp6tables = false;
    bool nfCallArptables = false;
    bool topologyChange = false;
    std::uint32_t fdbLearned = 0;
    std::uint32_t fdbMaxLearned = 0;
    std::uint64_t multiOptions = 0; ///< IFLA_BR_MULTI_BOOLOPT
    std::vector<BridgeVlan> vlans;  ///< the bridge's own ("self") VLANs
    bool operator==(const BridgeOptions&) const = default;
};

/// IFLA_BRPORT_*: what a bridge port is set to.
struct BridgePort {
    StpState state = StpState::disabled;
    std::uint16_t priority = 0x80;
    std::uint32_t cost = 0;
    bool learning = true;
    bool unicastFlood = true;
    bool mcastFlood = true;
    bool bcastFlood = true;
    bool hairpin = false;
    bool guard = false; ///< BPDU guard
    bool protect = false;
    bool fastLeave = false;
    bool proxyArp = false;
    bool proxyArpWifi = false;
    bool mcastToUnicast = false;
    bool vlanTunnel = false;
    bool neighSuppress = false;
    bool neighVlanSuppress = false;
    bool isolated = false;
    bool locked = false;
    bool mab = false;
    std::uint8_t mcastRouter = 1;
    std::uint16_t groupFwdMask = 0;
    IfIndex backupPort = 0;
    std::uint32_t backupNextHop = 0;
    std::vector<BridgeVlan> vlans;
    bool operator==(const BridgePort&) const = default;
};

struct VlanDevice {
    std::uint16_t protocol = 0x8100;
    std::uint16_t vid = 0;
    bool operator==(const VlanDevice&) const = default;
};

/// Which XDP programs a link carries, whoever attached them.
struct XdpAttachment {
    std::uint32_t driverProgram = 0;
    std::uint32_t genericProgram = 0;
    std::uint32_t offloadProgram = 0;
    bool operator==(const XdpAttachment&) const = default;
};

struct Address {
    std::uint8_t family = 0;      ///< 4 or 6
    std::string prefix;           ///< "10.0.0.1/24"
    std::string scope = "global"; ///< global, link, host, site
    bool operator==(const Address&) const = default;
};

/// What net.ipv4.conf.LINK and net.ipv6.conf.LINK say.
struct IpSettings {
    bool forwarding4 = false;
    bool forwarding6 = false;
    std::uint8_t reversePathFilter = 0;    ///< IPv4: 0 off, 1 strict, 2 loose
    bool ignoreRoutesWithLinkDown = false; ///< IPv4
    bool operator==(const IpSettings&) const = default;
};

/// A queueing discipline of outgoing frames, with those settings that matter to a frame that finds it empty.
struct Discipline {
    std::string kind;
    std::map<std::string, std::uint64_t> settings; ///< only those that the kernel told
    auto operator<=>(const Discipline&) const = default;
};

struct Link {
    IfIndex ifindex = 0;
    std::string name;
    std::string kind;   ///< IFLA_INFO_KIND ("bridge", "veth", "vlan", ...); empty for hardware
    std::string driver; ///< as ethtool -i says; empty where it has none
    IfIndex master = 0;
    IfIndex lower = 0;           ///< IFLA_LINK: the device underneath (VLAN, macvlan) or the peer (veth)
    bool lowerElsewhere = false; ///< `lower` lives in another network namespace
    std::uint32_t flags = 0;
    std::uint8_t operState = 0;
    std::uint32_t promiscuity = 0; ///< how many want all frames; the bridge is one of them on its ports
    bool carrier = false;
    std::uint32_t mtu = 0;
    std::uint32_t maxMtu = 0; ///< that the driver takes; 0: no limit
    std::uint32_t group = 0;
    std::uint32_t txQueues = 1;
    std::uint32_t rxQueues = 1;
    MacAddress mac;
    bool ethernet = true;       ///< ARPHRD_ETHER
    bool switchPort = false;    ///< it has a physical switch id: hardware may forward by itself
    bool vlanRxOffload = false; ///< rx-vlan-offload is on: the tag is kept outside of the frame
    bool vlanTxOffload = false;
    bool serviceTagRxOffload = false; ///< rx-vlan-stag-hw-parse: likewise for tags of 802.1ad
    bool receiveChecksumOff = false;
    std::string rootQdisc;          ///< kind of the root qdisc
    std::set<Discipline> queues;    ///< all of outgoing frames that the kernel lists
    std::uint32_t queueFilters = 0; ///< filters of their own
    std::uint32_t ingressFilters = 0;
    std::uint32_t egressFilters = 0;
    XdpAttachment xdp;
    IpSettings ip;
    std::vector<Address> addresses;
    std::optional<BridgeOptions> bridge;  ///< it is a bridge
    std::optional<BridgePort> bridgePort; ///< it is a port of the bridge `master`
    std::optional<VlanDevice> vlan;       ///< it is a VLAN device on `lower`

    bool operator==(const Link&) const = default;
    [[nodiscard]] bool up() const { return (flags & link_flag::up) != 0; }
};

} // namespace tna::model
