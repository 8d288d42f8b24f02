// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tna::test {

/// Something on the way from p0 to p1 that leaves its frames to Linux; commands that make it, and one that
/// takes it away.
struct CloserLook {
    std::vector<std::string> there;
    std::string back;
};

/// What the straight line does not know to be harmful, but must see to deserve a closer look.
inline std::vector<CloserLook> closerLooks() {
    const std::string filter = "protocol all u32 match u32 0 0 flowid 1:1";
    return {{{"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress " + filter},
             "tc qdisc del dev p0 clsact"},
            {{"tc qdisc add dev p1 clsact", "tc filter add dev p1 egress " + filter},
             "tc qdisc del dev p1 clsact"},
            {{"tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms"}, "tc qdisc del dev p1 root"},
            {{"nft add table netdev t",
              "nft add chain netdev t c { type filter hook egress device p1 priority 0; }"},
             "nft delete table netdev t"}};
}

} // namespace tna::test
