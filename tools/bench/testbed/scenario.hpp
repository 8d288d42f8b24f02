// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/cabling.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tna::bench {

/// What lies between the generator and the sink.
enum class Scenario {
    bridge,    ///< one bridge with two ports
    router,    ///< two ports with IPv4 addresses
    router6,   ///< two ports with IPv6 addresses
    bridges,   ///< two bridges with IPv4 addresses, a port each
    firewall,  ///< the router with rules, of which the last accept what frames are
    firewall6, ///< the same of IPv6
    nat,       ///< the firewall, behind which flows come from its own address
    nat6,      ///< the same of IPv6
    forward,   ///< the firewall, to whose own address flows come that are for a host behind it
    forward6,  ///< the same of IPv6
};

constexpr std::array<std::string_view, 10> scenarioNames{
    "bridge", "router", "router6", "bridges", "firewall", "firewall6", "nat", "nat6", "forward", "forward6"};

[[nodiscard]] constexpr std::string_view nameOf(Scenario scenario) {
    return scenarioNames.at(static_cast<std::size_t>(scenario));
}
/// Frames get other addresses and one hop less.
[[nodiscard]] constexpr bool routes(Scenario scenario) {
    return scenario != Scenario::bridge;
}
[[nodiscard]] constexpr bool usesIpv6(Scenario scenario) {
    return scenario == Scenario::router6 || scenario == Scenario::firewall6 || scenario == Scenario::nat6 ||
           scenario == Scenario::forward6;
}
/// Packets leave from the router's own address, and answers come to it.
[[nodiscard]] constexpr bool masquerades(Scenario scenario) {
    return scenario == Scenario::nat || scenario == Scenario::nat6;
}
/// Packets of many senders come to the router's own address and a port, and go to a host behind it; answers
/// leave from that address.
[[nodiscard]] constexpr bool forwardsPorts(Scenario scenario) {
    return scenario == Scenario::forward || scenario == Scenario::forward6;
}
[[nodiscard]] constexpr bool translates(Scenario scenario) {
    return masquerades(scenario) || forwardsPorts(scenario);
}
/// Packets pass rules that drop what they do not accept. Flows differ in a port as well, and answers have
/// the ports the other way round.
[[nodiscard]] constexpr bool filters(Scenario scenario) {
    return scenario == Scenario::firewall || scenario == Scenario::firewall6 || translates(scenario);
}

/// What flows are to the connection tracking of a firewall.
enum class Tracking {
    established, ///< each has gone both ways, for longer than it takes
    oneWay,      ///< nothing comes back: each packet is accepted like the first one
    fresh,       ///< each packet begins a connection
    off,         ///< the rules do not ask for it, so nothing is tracked
};

constexpr std::array<std::string_view, 4> trackingNames{"established", "one-way", "new", "off"};

[[nodiscard]] constexpr std::string_view nameOf(Tracking tracking) {
    return trackingNames.at(static_cast<std::size_t>(tracking));
}

/// What packets carry.
enum class Protocol {
    udp, ///< but packets of router6 carry nothing, so that a mark fits into the smallest
    tcp,
};

/// Who sends the frames.
enum class Generator {
    automatic, ///< live frames, or a packet socket where those cannot be
    live,      ///< BPF_PROG_TEST_RUN with live frames: in the kernel, the fastest
    xdp,       ///< an AF_XDP socket
    packet,    ///< an AF_PACKET socket
};

constexpr std::array<std::string_view, 4> generatorNames{"auto", "live", "xdp", "packet"};

[[nodiscard]] constexpr std::string_view nameOf(Generator generator) {
    return generatorNames.at(static_cast<std::size_t>(generator));
}
/// The largest frame that one can send; live frames and those of AF_XDP lie in one page.
[[nodiscard]] unsigned largestFrameOf(Generator generator);

/// Instead of a size: seven of 64 bytes, four of 590, one of 1514.
constexpr unsigned imix = 0;
constexpr std::array<unsigned, 3> imixSizes{64, 590, 1514};

/// One scenario in full.
struct Setup {
    Scenario scenario = Scenario::bridge;
    unsigned flows = 1;      ///< pairs of stations that talk through a bridge; destinations behind a router
    unsigned routes = 1;     ///< that lead there
    unsigned queues = 1;     ///< of each device
    unsigned frameSize = 64; ///< or imix
    unsigned vlan = 0;       ///< of an 802.1Q tag; 0: none
    bool vlanFiltering = false;
    Protocol protocol = Protocol::udp;
    unsigned reverse = 0; ///< frames per second that come back meanwhile
    Generator generator = Generator::automatic;
    unsigned rules = 0;        ///< netfilter rules that frames meet, and that concern none of them
    unsigned routingRules = 0; ///< likewise, of routers
    unsigned entries = 0;      ///< of a bridge: stations that are known and do not talk
    unsigned ports = 2;        ///< of a bridge
    Tracking tracking = Tracking::established; ///< of a firewall
    unsigned ruleChanges = 0;                  ///< likewise, of its rules: so many in a second
    Cabling cabling;
};

/// "64 byte frames", "IMIX frames"
[[nodiscard]] std::string framesText(const Setup& setup);
/// The sizes of its frames, the smallest first.
[[nodiscard]] std::vector<unsigned> sizesOf(const Setup& setup);

/// The size of frames that nobody has chosen.
[[nodiscard]] unsigned usualSizeOf(const Setup& setup);

/// What is wrong with it, in words of the command line; empty if nothing is.
[[nodiscard]] std::string problemWith(const Setup& setup);

} // namespace tna::bench
