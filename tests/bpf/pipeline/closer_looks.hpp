// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::test {

/// Something on a frame's way that leaves it to Linux; commands that make it, and one that takes it away.
struct CloserLook {
    std::vector<std::string> there;
    std::string back;
};

/// What the straight line does not know to be harmful, but must see to deserve a closer look: at the devices
/// by which a frame comes in, and at those by which it leaves.
inline std::vector<CloserLook> closerLooks(const std::vector<std::string>& in = {"p0"},
                                           const std::vector<std::string>& out = {"p1"}) {
    const std::string filter = "protocol all u32 match u32 0 0 flowid 1:1";
    std::vector<CloserLook> looks;
    for (const auto& device : in)
        looks.push_back({{"tc qdisc add dev " + device + " ingress",
                          "tc filter add dev " + device + " ingress " + filter},
                         "tc qdisc del dev " + device + " ingress"});
    for (const auto& device : out) {
        looks.push_back(
            {{"tc qdisc add dev " + device + " clsact", "tc filter add dev " + device + " egress " + filter},
             "tc qdisc del dev " + device + " clsact"});
        looks.push_back({{"tc qdisc add dev " + device + " root tbf rate 1gbit burst 1m latency 50ms"},
                         "tc qdisc del dev " + device + " root"});
        looks.push_back(
            {{"nft add table netdev t",
              "nft add chain netdev t c { type filter hook egress device " + device + " priority 0; }"},
             "nft delete table netdev t"});
    }
    return looks;
}

} // namespace tna::test
