// SPDX-License-Identifier: Apache-2.0
// How fast it is between real sockets; nothing is expected: --gtest_also_run_disabled_tests.
#include "netns/balancer/balancer_fixture.hpp"
#include "support/arriving.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class BalancerSpeed : public BalancerTest {
protected:
    void measure(const char* what, const std::string& knownAs) {
        const auto tcp = arriving(*clients_, *servers_, "10.0.1.11", knownAs, SOCK_STREAM);
        const auto udp = arriving(*clients_, *servers_, "10.0.1.11", knownAs, SOCK_DGRAM);
        fmt::print("{}: TCP {:.0f} Mbit/s, UDP {:.0f} packets/s\n", what, tcp * 8 / 1e6, udp);
    }
    static void withoutOffloads(const Namespace& where, const char* device) {
        const auto inside = where.enter();
        must(std::string("ethtool -K ") + device + " tx off gro off");
    }
};

TEST_F(BalancerSpeed, DISABLED_BesideLinux) {
    withoutOffloads(*clients_, "lan0");
    withoutOffloads(*servers_, "rack0");
    must("ethtool -K eth0 tx off");
    must("ethtool -K eth1 tx off");
    measure("Linux routes", "10.0.1.11");
    if (command({"nft", R"(
table ip t {
    chain c {
        type nat hook prerouting priority dstnat;
        ip daddr 192.0.2.81 dnat to 10.0.1.11
    }
})"})
            .exitCode == 0) {
        measure("nft's dnat", "192.0.2.81");
        must("nft delete table ip t");
    }
    startTnad();
    declare();
    std::string text;
    for (const auto* protocol : {"tcp", "udp"})
        text += fmt::format("[[service]]\nprotocol = \"{}\"\naddress = \"192.0.2.80\"\nport = {}\n"
                            "check = {{ kind = \"none\" }}\n[[service.backend]]\naddress = \"10.0.1.11\"\n",
                            protocol, arrivingPort);
    configure(text);
    startBalancer();
    measure("tna-balancer", serviceAddress);
    fmt::print("{}\n", endBalancer().dump());
}

} // namespace
} // namespace tna::test
