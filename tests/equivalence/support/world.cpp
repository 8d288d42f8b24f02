// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include "support/command.hpp"

#include <gtest/gtest.h>

namespace tna::test {

World::World() {
    const auto inside = home_.enter();
    for (unsigned i = 0; i < ports; i++) {
        const auto n = std::to_string(i);
        must("ip link add p" + n + " address 02:00:00:00:ff:1" + n + " type veth peer name far" + n +
             " netns " + farSide_.name());
        const auto there = farSide_.enter();
        must("ip link set far" + n + " mtu 2000 up");
        must("ethtool -K far" + n + " gro on");
        far_[i].emplace("far" + n);
    }
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

} // namespace tna::test
