// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

namespace tna::test {

/// Something that Linux is told, and what becomes of the frame from station 1 to station 2 by it.
struct Change {
    const char* name;
    std::vector<std::string> commands;
    std::vector<std::string> undo;
    std::vector<unsigned> ports; ///< where the frame comes out
};

inline const std::vector<Change>& changes() {
    static const std::string second = text(station(2));
    static const std::vector<Change> all{
        {"Isolated",
         {"bridge link set dev p0 isolated on", "bridge link set dev p1 isolated on"},
         {"bridge link set dev p0 isolated off", "bridge link set dev p1 isolated off"},
         {}},
        {"Filter",
         {"nft 'add chain netdev t d { type filter hook ingress device p0 priority 0; policy drop; }'"},
         {"nft delete chain netdev t d"},
         {}},
        {"Station",
         {"bridge fdb replace " + second + " dev p2 master static"},
         {"bridge fdb del " + second + " dev p2 master"},
         {2}},
        {"Leaves", {"ip link set p1 nomaster"}, {"ip link set p1 master br0"}, {2}},
        {"Learning", {"bridge link set dev p0 learning off"}, {"bridge link set dev p0 learning on"}, {1}},
        {"Routed",
         {"sysctl -qw net.ipv4.ip_forward=1", "ip address add 10.0.0.1/24 dev br0"},
         {"ip address flush dev br0"},
         {1}},
        {"Joins",
         {"ip link add p3 type veth peer name q3", "ip link set q3 up", "ip link set p3 master br0 up"},
         {"ip link del p3"},
         {1}},
    };
    return all;
}

} // namespace tna::test
