// SPDX-License-Identifier: Apache-2.0
// How fast it is between real sockets; nothing is expected: --gtest_also_run_disabled_tests.
#include "netns/nat64/nat64_fixture.hpp"
#include "support/arriving.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

class Nat64Speed : public Nat64Test {
protected:
    void measure(const char* what, const std::string& knownAs, const std::string& ip = "192.0.2.33") {
        const auto tcp = arriving(*client_, *server_, ip, knownAs, SOCK_STREAM);
        const auto udp = arriving(*client_, *server_, ip, knownAs, SOCK_DGRAM);
        fmt::print("{}: TCP {:.0f} Mbit/s, UDP {:.0f} packets/s\n", what, tcp * 8 / 1e6, udp);
    }
    void withoutOffloads() {
        (void)inClient("ethtool -K lan0 tx off gro off");
        (void)inServer("ethtool -K wan0 tx off gro off");
        must("ethtool -K eth0 tx off");
        must("ethtool -K eth1 tx off");
    }
};

TEST_F(Nat64Speed, DISABLED_BesideRouting) {
    withoutOffloads();
    enableIpv6("eth1");
    must("ip address add 2001:db8:1::1/64 dev eth1 nodad");
    {
        const auto inside = server_->enter();
        enableIpv6("wan0");
        must("ip address add 2001:db8:1::2/64 dev wan0 nodad");
        must("ip -6 route add default via 2001:db8:1::1");
    }
    measure("Linux routes IPv6", "2001:db8:1::2", "2001:db8:1::2");
    makeDevice();
    must("ip route add 203.0.113.5 dev n64");
    startTnad();
    declareAs(deviceFunction);
    launchAndWait("--pool 203.0.113.5");
    measure("by a pair of veths", serverInIpv6);
    fmt::print("{}\n", endTranslator().dump());
}

TEST_F(Nat64Speed, DISABLED_AtPorts) {
    withoutOffloads();
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    enableIpv6("eth1");
    startTnad();
    declareAs("users = [\"nobody\"]\nports = [\"eth0\", \"eth1\"]\n[[rule]]\nports = [\"eth0\"]\nto = "
              "\"64:ff9b::/96\"\n[[rule]]\nports = [\"eth1\"]\nto = \"203.0.113.5\"\n");
    launchAndWait("--pool 203.0.113.5 --then back");
    measure("at the ports", serverInIpv6);
    fmt::print("{}\n", endTranslator().dump());
}

} // namespace
} // namespace tna::test
