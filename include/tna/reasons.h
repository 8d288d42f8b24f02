/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_REASONS_H
#define TNA_REASONS_H

/*
 * Every reason for which the fast path leaves a frame to Linux.
 *
 * X(identifier, code, sentence): the code is what programs read, the sentence is what people read.
 * The order is the order in which the reasons are looked for when a frame has been left to Linux, so
 * that the first one found is the one a user can act upon. Values are not stable between versions.
 */
#define TNA_REASONS(X)                                                                                       \
	X(UNKNOWN_PORT, "unknown-port", "the port is not (or no longer) managed here")                       \
	X(SHORT, "short", "the frame is too short to be looked at")                                          \
	X(FRAGMENTED, "multi-buffer", "the frame is spread over several buffers")                            \
	X(NAMESPACE, "namespace", "the port has moved to another network namespace")                         \
	X(NOT_A_PORT, "not-a-bridge-port", "the interface is not a bridge port")                             \
	X(MULTICAST, "multicast", "broadcast or multicast: Linux copies it to the ports that want it")       \
	X(PROTOCOL, "protocol",                                                                              \
	  "a protocol that the bridge itself may answer or consume (ARP, MRP, CFM, LLC)")                    \
	X(SOURCE_INVALID, "source-invalid", "the source address is not a station's: Linux drops it")         \
	X(CHECKSUM, "unfinished-checksum",                                                                   \
	  "a local sender left the checksum or the segmentation to the hardware")                            \
	X(HIDDEN_TAG, "hidden-vlan-tag", "the frame's VLAN tag is kept outside of the frame")                \
	X(MARKED, "marked", "a local sender's mark is on the frame (SO_MARK): Linux keeps it there")         \
	X(TAGGED, "tagged", "a tagged frame: whether a VLAN device wants it cannot be seen on this kernel")  \
	X(VLAN_DEVICE, "vlan-device", "a tagged frame on a port with VLAN devices of its own")               \
	X(CAPTURE, "capture", "somebody is capturing (`ss -0p` lists them): they see every frame")           \
	X(BRIDGE_PROMISC, "bridge-promisc", "the bridge is promiscuous: its own stack sees every frame")     \
	X(TC, "tc", "traffic control filters or programs on the port or the egress port")                    \
	X(NETDEV_HOOK, "netdev-hook", "netfilter rules on the port's ingress or the egress port's egress")   \
	X(NETFILTER, "bridge-netfilter", "netfilter rules in the bridge family")                             \
	X(BR_NETFILTER, "br-netfilter",                                                                      \
	  "bridged frames go through iptables (the sysctls net.bridge.bridge-nf-call-iptables, -ip6tables)") \
	X(BRIDGE_OPTIONS, "bridge-options",                                                                  \
	  "the bridge has an option that only Linux handles (neighbour suppression, VLAN statistics, MST, "  \
	  "...), or its VLAN filtering changed a moment ago")                                                \
	X(PORT_STATE, "stp-state", "the port is not in the forwarding state")                                \
	X(PORT_FLAGS, "port-flags",                                                                          \
	  "the port has a setting that only Linux handles (learning off, locked, VLAN tunnel, ...)")         \
	X(VLAN, "vlan",                                                                                      \
	  "the port, or the bridge itself if the frame is routed, has no part in the frame's VLAN, or does " \
	  "not forward there: Linux drops it")                                                               \
	X(FDB_INCOMPLETE, "fdb-incomplete", "the mirror of the forwarding database is being read anew")      \
	X(SOURCE_UNKNOWN, "source-unknown", "the source is not known on this port: Linux learns it")         \
	X(SOURCE_AGED, "refresh", "Linux sees one frame now and then, so that the station does not age out") \
	X(UNKNOWN_UNICAST, "unknown-unicast", "the destination is not known: Linux floods it")               \
	X(STATION_MOVED, "station-moved", "the destination was seen on another port a moment ago")           \
	X(LOCAL, "local", "the frame is for this host")                                                      \
	X(SAME_PORT, "same-port", "the destination is behind the port the frame came from")                  \
	X(EGRESS_STATE, "egress-stp-state",                                                                  \
	  "the egress port is not in the forwarding state (STP, or it is down)")                             \
	X(EGRESS_FLAGS, "egress-port-flags", "the egress port has a setting that only Linux handles")        \
	X(EGRESS_VLAN, "egress-vlan",                                                                        \
	  "the egress port has no part in the frame's VLAN, or does not forward there: Linux drops it")      \
	X(ISOLATED, "isolated", "both ports are isolated: Linux drops it")                                   \
	X(EGRESS_DOWN, "egress-down", "the egress port is down or has no carrier")                           \
	X(EGRESS_MTU, "egress-mtu", "the frame is larger than the egress port takes")                        \
	X(EGRESS_REFUSED, "egress-refused", "the egress port's driver has refused redirected frames")        \
	X(EGRESS_SHORT, "egress-short",                                                                      \
	  "the frame is shorter than what the egress port's driver takes by redirect: Linux pads it")        \
	X(EGRESS_QDISC, "egress-qdisc",                                                                      \
	  "the egress port has a queueing discipline that shapes or classifies")                             \
	X(SENDER_SOCKET, "sender-socket",                                                                    \
	  "the sender is a socket of this machine, which a queue of the egress port would see and pace, "    \
	  "or which asks when its packets leave")                                                            \
	X(EGRESS_UNMANAGED, "egress-unmanaged",                                                              \
	  "the egress port is excluded, not known to be safe, or not known here yet")                        \
	X(EGRESS_REDIRECT, "egress-redirect",                                                                \
	  "the egress port's driver does not take redirected frames, or "                                    \
	  "it is a device on top of others that is left to Linux")                                           \
	X(SWITCHDEV, "switchdev", "hardware forwards between these ports")                                   \
	X(HEADROOM, "headroom", "there is no room in front of the frame for a VLAN tag")                     \
	X(STACKED, "stacked", "another device takes the port's frames (a bridge, a bond, a macvlan)")        \
	X(VRF, "vrf", "the port belongs to a VRF, which has routes of its own")                              \
	X(NOT_FORWARDING, "not-forwarding", "forwarding is off for this protocol, or on the port")           \
	X(IP_NETFILTER, "ip-netfilter",                                                                      \
	  "netfilter rules, NAT, IPVS or connection tracking for routed packets (`tnactl rules`)")           \
	X(FLOW_KIND, "flow-kind",                                                                            \
	  "netfilter rules or a flowtable, and the packet is none in the middle of a flow of TCP or UDP")    \
	X(FLOW_UNKNOWN, "flow-unknown",                                                                      \
	  "netfilter rules: what Linux decides about this flow, or about this direction of it, is not "      \
	  "known yet, or never will be (`tnactl rules` says of which flows)")                                \
	X(FLOW_CHANGED, "flow-changed",                                                                      \
	  "netfilter rules, the connection, or a device have changed since Linux decided about this flow, "  \
	  "or it passes this machine more than once (bridges in a row)")                                     \
	X(FLOW_REFRESH, "flow-refresh",                                                                      \
	  "Linux sees one packet of a flow now and then, so that the connection does not time out")          \
	X(FLOW_CHECKSUM, "flow-checksum",                                                                    \
	  "the checksum of TCP or UDP is wrong: connection tracking calls such a packet invalid")            \
	X(FLOW_STATE, "flow-state",                                                                          \
	  "netfilter rules: the connection of TCP begins or ends, or the packet is early or late, or "       \
	  "connection tracking has not been told yet not to mind its windows")                               \
	X(FLOW_WINDOW, "flow-window",                                                                        \
	  "the packet is outside of the windows of TCP: invalid to connection tracking, and dropped if "     \
	  "the rules drop such packets")                                                                     \
	X(FLOW_TRANSLATED, "flow-translated",                                                                \
	  "connection tracking translates the packet's addresses, which is not done within a bridge, nor "   \
	  "where custom modules come behind routing; nor of TCP, unless the rules drop what is invalid "     \
	  "(`tnactl rules`)")                                                                                \
	X(FLOWTABLE_UNKNOWN, "flowtable-unknown",                                                            \
	  "the flow is not in the port's flowtable: its first packets, or rules do not put it there")        \
	X(FLOWTABLE_SPECIAL, "flowtable-special",                                                            \
	  "a flowtable with counters or hardware offload, or a flow in it that leaves by IPsec, by a "       \
	  "bridge "                                                                                          \
	  "or VLAN device, or by a route that expires")                                                      \
	X(FLOWTABLE_STALE, "flowtable-stale",                                                                \
	  "the route that a flow in the flowtable remembers has changed: Linux takes the flow out")          \
	X(XFRM, "xfrm",                                                                                      \
	  "IPsec policies (`ip xfrm policy`): while there are any, Linux asks them about each routed "       \
	  "packet")                                                                                          \
	X(VLAN_SETTINGS, "vlan-settings",                                                                    \
	  "the VLAN device is down, keeps tags in frames (reorder_hdr off), maps priorities, or has tags "   \
	  "of "                                                                                              \
	  "another kind than its bridge")                                                                    \
	X(GENERIC_XDP, "generic-xdp",                                                                        \
	  "the bridge or VLAN device itself, or the other end of the egress port, has an XDP program (a "    \
	  "generic one)")                                                                                    \
	X(NOT_IP, "not-ip", "not an IP packet (ARP, a tag of no VLAN device here, ...)")                     \
	X(OTHER_STATION, "other-station",                                                                    \
	  "the frame is not addressed to the port's own MAC address, but to another station or to a "        \
	  "device on top of the port (VRRP by a macvlan)")                                                   \
	X(IP_HEADER, "ip-header", "the IP header has options that routers read, or is not as it should be")  \
	X(TTL, "ttl", "the packet's time to live (hop limit) ends here: Linux tells its sender")             \
	X(IP_ADDRESS, "ip-address",                                                                          \
	  "an address that is not routed (multicast, broadcast, loopback, link-local, zero)")                \
	X(RULES, "ip-rules",                                                                                 \
	  "a routing rule (ip rule) asks for ports, protocols, types of service or the like, leads to "      \
	  "another rule, or may go by a mark that netfilter sets")                                           \
	X(PROXY_NDP, "proxy-ndp", "Linux answers neighbour discovery for others (sysctl proxy_ndp)")         \
	X(ROUTE_LOCAL, "not-routed", "for this host, or without a route, or the route says no")              \
	X(MULTIPATH, "multipath", "the route has several next hops: Linux spreads packets over them")        \
	X(ROUTE_SPECIAL, "special-route",                                                                    \
	  "a route that depends on the type of service or the source, encapsulates, has a gateway of the "   \
	  "other protocol, or of which ICMP told something")                                                 \
	X(REVERSE_PATH, "reverse-path", "the source has no route, or not by this port, or is this host's")   \
	X(SAME_DEVICE, "same-device",                                                                        \
	  "the packet would leave by the device it came by: Linux tells its sender of the better way; of "   \
	  "IPv4 not if net.ipv4.conf.all.send_redirects and that of the device are 0")                       \
	X(ROUTE_MTU, "route-mtu", "the packet is larger than the route or the egress port takes")            \
	X(NEIGHBOUR, "neighbour", "the next hop's MAC address is not known, or Linux is to confirm it")      \
	X(SEARCH, "long-search",                                                                             \
	  "a route, a neighbour or a station that is further down a list than the fast path looks")          \
	X(UNPROVED, "route-unproved", "the route changed during the look, or was not found in place")        \
	X(SELF_CHECK, "self-check",                                                                          \
	  "what is fast and what is sure have disagreed: all is left to Linux until it is resumed")          \
	X(MODULE_CHANGED, "module-changed",                                                                  \
	  "a custom module changed the frame after the decision about it, or changed before what Linux had " \
	  "looked at already")

#define TNA_REASON_ENUM(id, code, text) TNA_REASON_##id,
enum tna_reason { TNA_REASONS(TNA_REASON_ENUM) TNA_REASON_COUNT };
#undef TNA_REASON_ENUM

#endif
