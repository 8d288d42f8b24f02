// SPDX-License-Identifier: Apache-2.0
#include "bridge_world.hpp"

#include "support/command.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace tna::test {

BridgeWorld::BridgeWorld() {
    const auto inside = home().enter();
    // Stations that age slowly: when they do must not decide.
    must("ip link add br0 address 02:00:00:00:ff:00 type bridge mcast_snooping 0 ageing_time 6400000");
    for (unsigned i = 0; i < ports; i++)
        must("ip link set p" + std::to_string(i) + " master br0 up");
    must("ip link set br0 up");
    for (const char* family : {"iptables", "ip6tables", "arptables"})
        if (const std::string key = std::string("net.bridge.bridge-nf-call-") + family;
            command({"sysctl", "-n", key}).exitCode == 0)
            sysctl(key, "0");
}

bool BridgeWorld::opens(const Fence& fence) const {
    const auto broadcast =
        FrameBuilder().ethernet({255, 255, 255, 255, 255, 255}, station(0xfff0)).etherType(0x88b5).raw(46);
    return eventually(
        [&] {
            for (unsigned port = 0; port < ports; port++) {
                if (send(port, broadcast) != 0)
                    return false;
                fence.pass();
                if (arrivals().size() != ports - 1)
                    return false;
            }
            return true;
        },
        std::chrono::seconds(20));
}

std::vector<std::string> BridgeWorld::memory() const {
    std::istringstream lines(run("bridge fdb show br br0"));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);)
        found.push_back(line);
    std::ranges::sort(found);
    return found;
}

} // namespace tna::test
