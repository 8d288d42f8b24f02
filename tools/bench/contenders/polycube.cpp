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

/// polycubed with a service in place of what Linux does between d0 and d1.
class Polycube : public External {
public:
    explicit Polycube(Scenario scenario)
        : External({"polycubed", "polycubectl"}, "see polycube-network.readthedocs.io"), scenario_(scenario) {
    }

private:
    Result<void> begin(Traffic& traffic) override {
        if (auto running = startDaemon(); !running)
            return running;
        if (auto made = scenario_ == Scenario::bridge ? makeBridge() : makeRouter(); !made)
            return made;
        return traffic.sendBack();
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

    static Result<void> makeBridge() {
        if (auto taken = removeLinuxBridge(); !taken)
            return taken;
        return ask(
            {"simplebridge add br1 type=XDP_DRV", "br1 ports add p0 peer=d0", "br1 ports add p1 peer=d1"});
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
};
} // namespace

std::unique_ptr<Contender> makePolycube(Scenario scenario) {
    return std::make_unique<Polycube>(scenario);
}

} // namespace tna::bench
