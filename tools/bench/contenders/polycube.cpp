// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/external.hpp"
#include "bench/contenders/make.hpp"
#include "bench/testbed/frame.hpp"

#include "base/file.hpp"

#include <httplib.h>

namespace tna::bench {

namespace {
constexpr const char* address = "127.0.0.1";
constexpr int port = 9000;
/// Ports listen and learn as long each before they forward; 802.1D knows no less.
constexpr std::chrono::seconds forwardDelay{4};

/// polycubed with a service in place of what Linux does between d0 and d1.
class Polycube : public External {
public:
    Polycube(Scenario scenario, PolycubeBridge bridge)
        : External({"polycubed", "polycubectl"}, "see polycube-network.readthedocs.io"), scenario_(scenario),
          bridge_(bridge) {}

private:
    Result<void> begin(Traffic& traffic) override {
        if (auto running = startDaemon(); !running)
            return running;
        if (auto made = scenario_ == Scenario::bridge ? makeBridge() : makeRouter(); !made)
            return made;
        if (scenario_ == Scenario::forward)
            if (auto made = forwardPort(); !made)
                return made;
        return traffic.source().sendBack();
    }
    [[nodiscard]] std::chrono::seconds patience() const override {
        const auto usual = External::patience();
        return bridge_ == PolycubeBridge::whole ? usual + 2 * forwardDelay : usual;
    }
    Result<void> startDaemon() {
        // Its programs talk to it over the loopback device of this namespace.
        if (auto up = runCommand("ip link set lo up"); !up)
            return up;
        const auto configuration = folder() + "/polycubed.conf"; // which must be there
        if (auto written = writeFile(configuration, ""); !written)
            return written;
        if (auto launched = launch({"polycubed", "--addr", address, "--port", std::to_string(port),
                                    "--configfile", configuration, "--logfile", folder() + "/polycubed.log",
                                    "--pidfile", folder() + "/polycubed.pid"});
            !launched)
            return launched;
        return await("polycubed does not answer", std::chrono::seconds(30), [] {
            httplib::Client client{address, port};
            const auto answer = client.Get("/polycube/v1/");
            return answer && answer->status < 500;
        });
    }

    static Result<void> ask(const std::vector<std::string>& commands) {
        for (const auto& words : commands)
            if (auto done = runCommand("polycubectl " + words); !done)
                return done;
        return {};
    }

    /// The one that has VLANs puts both ports into VLAN 1, and looks at states of its spanning tree.
    Result<void> makeBridge() const {
        if (auto taken = removeLinuxBridge(); !taken)
            return taken;
        const std::vector<std::string> ports{"br1 ports add p0 peer=d0", "br1 ports add p1 peer=d1"};
        if (bridge_ == PolycubeBridge::simple) {
            auto made = ask({"simplebridge add br1 type=XDP_DRV"});
            return made ? ask(ports) : made;
        }
        if (auto made = ask({"bridge add br1 type=XDP_DRV stp-enabled=true"}); !made)
            return made;
        if (auto made = ask(ports); !made)
            return made;
        return ask({fmt::format("br1 stp 1 set forward-delay={}", forwardDelay.count())});
    }

    /// Its NAT lies at the router's port; what Linux's rules do here, it does as well.
    static Result<void> forwardPort() {
        return ask({"nat add nat1 type=XDP_DRV", "attach nat1 r1:p0",
                    "nat1 rule port-forwarding append external-ip=10.1.0.3 external-port=9 "
                    "internal-ip=10.2.0.2 internal-port=2009 proto=udp"});
    }

    /// With MAC addresses that the traffic is sent to, and the neighbours that Linux has.
    static Result<void> makeRouter() {
        return ask({"router add r1 type=XDP_DRV",
                    fmt::format("r1 ports add p0 ip=10.1.0.1/24 mac={} peer=d0", ingressMac),
                    fmt::format("r1 ports add p1 ip=10.2.0.1/24 mac={} peer=d1", egressMac),
                    fmt::format("r1 arp-table add 10.1.0.2 mac={} interface=p0", generatorMac),
                    fmt::format("r1 arp-table add 10.2.0.2 mac={} interface=p1", sinkMac),
                    "r1 route add 100.64.0.0/10 10.2.0.2"});
    }

    Scenario scenario_;
    PolycubeBridge bridge_;
};
} // namespace

std::unique_ptr<Contender> makePolycube(Scenario scenario, PolycubeBridge bridge) {
    return std::make_unique<Polycube>(scenario, bridge);
}

} // namespace tna::bench
