// SPDX-License-Identifier: Apache-2.0
#include "bridged_route_fixture.hpp"

namespace tna::test {

template <typename Router>
void Bridged<Router>::bridge(unsigned number, const std::vector<std::string>& others) {
    const auto suffix = std::to_string(number);
    const auto name = "br" + suffix;
    must("ip link add " + name + " address " + text(Router::portMac(number)) +
         " type bridge mcast_snooping 0 ageing_time 6400000");
    auto ports = others;
    ports.push_back("p" + suffix);
    for (const auto& port : ports) {
        must("ip address flush dev " + port);
        // The bridge's address is its own.
        must("ip link set " + port + " address " + text(station(0x200 + port.back() - '0')));
        must("ip link set " + port + " master " + name);
    }
    for (const char* words : {"iptables", "ip6tables", "arptables"})
        if (const std::string key = std::string("net.bridge.bridge-nf-call-") + words;
            command({"sysctl", "-n", key}).exitCode == 0)
            sysctl(key, "0");
    must("ip link set " + name + " up");
    this->becomes(name, number);
}

template class Bridged<RouteTest>;
template class Bridged<Route6Test>;

} // namespace tna::test
