// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netns/daemon/daemon_fixture.hpp"
#include "support/kernel.hpp"
#include "support/packet_port.hpp"

#include <gmock/gmock.h>
#include <map>
#include <memory>

namespace tna::test {

/// tnad as a process with network functions; the far ends of its ports are far0 and far1.
class FunctionsTest : public Daemon {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Starts tnad, with both stations known to the bridge.
    void startTnad();
    /// An error is a text.
    std::string declare(const std::string& name, const std::string& text) const;
    [[nodiscard]] nlohmann::json functionNamed(const std::string& name) const;
    [[nodiscard]] bool becomes(const std::string& name, const std::string& state) const;
    [[nodiscard]] CommandResult tnactl(std::vector<std::string> words) const;
    /// tna-workload as nobody, who has no capability.
    void startWorkload(const std::string& work, const std::string& name, std::vector<std::string> more = {});
    [[nodiscard]] std::string functionSocket() const { return directory_ + "/functions.sock"; }

    PacketPort& far(unsigned port) { return *farPorts_.at(port); }
    /// What a port has got by now, without what nobody has sent.
    [[nodiscard]] std::optional<Frame> arrivesAt(unsigned port) {
        return far(port).receive(std::chrono::seconds(5));
    }
    [[nodiscard]] bool nothingAt(unsigned port) {
        return !far(port).receive(std::chrono::milliseconds(200)).has_value();
    }
    /// From station 1 behind port 0 to station 2 behind port 1.
    [[nodiscard]] static Frame toPort(unsigned port);
    [[nodiscard]] static Frame swapped(Frame frame);

    std::unique_ptr<Process> workload_;
    std::map<unsigned, std::optional<PacketPort>> farPorts_;
};

/// The same, started.
class StartedFunctionsTest : public FunctionsTest {
protected:
    void SetUp() override {
        FunctionsTest::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            startTnad();
    }
};

/// What goes to UDP port 53 by p0 is this function's.
inline constexpr const char* dnsFunction = R"(
users = ["nobody"]
ports = ["p0"]
[[rule]]
ether_type = "ipv4"
protocol = "udp"
to_port = 53
)";

} // namespace tna::test
