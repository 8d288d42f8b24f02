// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connections_fixture.hpp"

#include <fmt/format.h>

namespace tna::test {

/// A bridge br0 in the place of the router, which has the rules called for what it forwards (br_netfilter).
/// The stations behind its ports are known.
template <typename Base>
class CallsRules : public Base {
protected:
    void SetUp() override {
        Base::SetUp();
        if (this->IsSkipped())
            return;
        if (command({"sysctl", "-n", "net.bridge.bridge-nf-call-iptables"}).exitCode != 0) {
            GTEST_SKIP() << "this kernel has no br_netfilter";
        }
        must("ip link add br0 type bridge mcast_snooping 0 ageing_time 100000000");
        for (const unsigned number : {0U, 1U, 2U}) {
            const auto port = "p" + std::to_string(number);
            must("ip address flush dev " + port);
            must("ip link set " + port + " master br0");
            must("bridge fdb replace " + text(station(number + 1)) + " dev " + port + " master static");
        }
        must("ip link set br0 up");
        calls("0");
        this->opens(0, {1, 2});
        this->opens(1, {0, 2});
        calls("1");
    }
    static void calls(const char* value) {
        sysctl("net.bridge.bridge-nf-call-iptables", value);
        sysctl("net.bridge.bridge-nf-call-ip6tables", value);
    }
    void atTcxIf(bool wanted) {
        if (wanted)
            this->config_.ports.tcxKinds = {"veth", "tun"};
    }
};

/// What Docker loads for a network of this bridge, of either protocol.
[[nodiscard]] inline std::string likeDocker(const char* family) {
    return fmt::format("table {0} filter {{"
                       " chain DOCKER {{ iifname != br0 oifname br0 tcp dport 80 accept; }};"
                       " chain ISOLATION-2 {{ oifname br0 drop; return; }};"
                       " chain ISOLATION-1 {{ iifname br0 oifname != br0 jump ISOLATION-2; return; }};"
                       " chain USER {{ return; }};"
                       " chain FORWARD {{ type filter hook forward priority 0; policy drop;"
                       " jump USER; jump ISOLATION-1; oifname br0 ct state related,established accept;"
                       " oifname br0 jump DOCKER; iifname br0 oifname != br0 accept;"
                       " iifname br0 oifname br0 accept; }}; }};"
                       " table {0} nat {{ chain POSTROUTING {{ type nat hook postrouting priority 100;"
                       " oifname != br0 masquerade; }}; }}",
                       family);
}

} // namespace tna::test
