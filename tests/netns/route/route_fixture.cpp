// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

#include <algorithm>
#include <iostream>
#include <set>

namespace tna::test {

void RouteTest::SetUp() {
    makePorts();
    if (IsSkipped())
        return;
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    // As many answers as there are questions, however fast they come.
    sysctl("net.ipv4.icmp_ratelimit", "0");
    sysctl("net.ipv4.icmp_ratemask", "0");
    for (unsigned i = 0; i < 3; i++) {
        const auto port = "p" + std::to_string(i);
        must("ip link set " + port + " address " + text(portMac(i)));
        must("ip address add 10.0." + std::to_string(i) + ".1/24 dev " + port);
        knows(port, i);
        sysctl("net.ipv4.conf." + port + ".rp_filter", "0");
    }
    sysctl("net.ipv4.ip_forward", "1");
    routesAtLast();
}

void RouteTest::knows(const std::string& device, unsigned number) {
    must("ip neigh replace 10.0." + std::to_string(number) + ".2 lladdr " + text(station(number + 1)) +
         " dev " + device + " nud permanent");
}

void RouteTest::routesAtLast() {
    ASSERT_TRUE(
        eventually([&] { return treat(packet()).out == routedTo(packet()); }, std::chrono::seconds(20)))
        << "nothing is routed";
}

void RouteTest::expectAllAsLinux(const std::vector<Condition>& conditions) {
    std::vector<std::pair<Condition, Arrivals>> possible;
    std::set<std::string> prepared;
    for (const auto& condition : conditions) {
        SCOPED_TRACE(condition.name);
        if (std::ranges::any_of(condition.prepare, [&](const auto& words) {
                return prepared.insert(words).second && command({"sh", "-c", words}).exitCode != 0;
            })) {
            std::cout << "not to be had here: " << condition.name << "\n";
            continue;
        }
        run(condition.set);
        possible.emplace_back(condition, treat(condition.frame).out);
        run(condition.unset);
        ASSERT_EQ(treat(condition.frame).out, routedTo(condition.frame));
    }
    accelerate();
    for (const auto& [condition, linux] : possible) {
        SCOPED_TRACE(condition.name);
        if (IsSkipped())
            return;
        const Treatment usual{fastPath(), routedTo(condition.frame)};
        EXPECT_EQ(treat(condition.frame), usual) << "before";
        run(condition.set);
        EXPECT_EQ(treat(condition.frame),
                  (Treatment{condition.reason.empty() ? fastPath() : slowPath(condition.reason), linux}));
        run(condition.unset);
        EXPECT_EQ(treat(condition.frame), usual) << "afterwards";
    }
}

Arrivals RouteTest::arrivals() {
    auto found = BridgeTest::arrivals();
    constexpr std::size_t protocol = 14 + 9;
    constexpr std::uint8_t icmp = 1;
    for (auto& [port, frames] : found)
        for (auto& frame : frames)
            if (frame.bytes.size() > 34 && frame.bytes[protocol] == icmp) {
                frame.bytes[18] = frame.bytes[19] = 0;
                finishIpv4(frame);
            }
    return found;
}

} // namespace tna::test
