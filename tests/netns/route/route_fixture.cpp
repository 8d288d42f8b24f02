// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

namespace tna::test {

void RouteTest::SetUp() {
    makePorts();
    if (IsSkipped())
        return;
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    sysctl("net.ipv4.icmp_ratelimit", "0");
    for (unsigned i = 0; i < 3; i++) {
        const auto port = "p" + std::to_string(i);
        const auto network = "10.0." + std::to_string(i);
        must("ip link set " + port + " address " + text(portMac(i)));
        must("ip address add " + network + ".1/24 dev " + port);
        must("ip neigh replace " + network + ".2 lladdr " + text(station(i + 1)) + " dev " + port +
             " nud permanent");
        sysctl("net.ipv4.conf." + port + ".rp_filter", "0");
    }
    sysctl("net.ipv4.ip_forward", "1");
    ASSERT_TRUE(
        eventually([&] { return treat(packet()).out == routedTo(packet()); }, std::chrono::seconds(20)))
        << "nothing is routed";
}

Arrivals RouteTest::withoutIdentification(Arrivals arrivals) {
    constexpr std::size_t protocol = 14 + 9;
    constexpr std::uint8_t icmp = 1;
    for (auto& [port, frames] : arrivals)
        for (auto& frame : frames)
            if (frame.bytes.size() > 34 && frame.bytes[protocol] == icmp) {
                frame.bytes[18] = frame.bytes[19] = 0;
                finishIpv4(frame);
            }
    return arrivals;
}

} // namespace tna::test
