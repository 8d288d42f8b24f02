// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "support/command.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace tna::test {

World::World() {
    const auto inside = home_.enter();
    // Stations that age slowly: when they do must not decide.
    must("ip link add br0 address 02:00:00:00:ff:00 type bridge mcast_snooping 0 ageing_time 6400000");
    for (unsigned i = 0; i < ports; i++) {
        const auto n = std::to_string(i);
        must("ip link add p" + n + " address 02:00:00:00:ff:1" + n + " type veth peer name far" + n +
             " netns " + farSide_.name());
        const auto there = farSide_.enter();
        must("ip link set far" + n + " mtu 2000 up");
        must("ethtool -K far" + n + " gro on");
        far_[i].emplace("far" + n);
    }
    for (unsigned i = 0; i < ports; i++)
        must("ip link set p" + std::to_string(i) + " master br0 up");
    must("ip link set br0 up");
    for (const char* family : {"iptables", "ip6tables", "arptables"})
        if (const std::string key = std::string("net.bridge.bridge-nf-call-") + family;
            command({"sysctl", "-n", key}).exitCode == 0)
            sysctl(key, "0");
}

std::string World::run(const std::string& words) const {
    const auto inside = home_.enter();
    const auto result = command({"sh", "-c", words});
    return std::to_string(result.exitCode) + " " + result.output;
}

Arrivals World::arrivals() const {
    Arrivals found;
    for (const auto& [number, port] : far_)
        if (auto frames = port->drain(); !frames.empty())
            found[number] = std::move(frames);
    return found;
}

std::vector<std::string> World::stations() const {
    std::istringstream lines(run("bridge fdb show br br0"));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);)
        found.push_back(line);
    std::ranges::sort(found);
    return found;
}

} // namespace tna::test
