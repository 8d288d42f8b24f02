// SPDX-License-Identifier: Apache-2.0
#include "netns/daemon/daemon_fixture.hpp"

#include "base/file.hpp"
#include "support/packet_port.hpp"
#include "tnactl/client.hpp"

#include <cstdlib>
#include <filesystem>

namespace tna::test {

void Daemon::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    char pattern[] = "/tmp/tna-test-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    dut_.emplace();
    far_.emplace();
    scope_.emplace(dut_->enter());
    must("ip link add br0 type bridge mcast_snooping 0");
    for (const std::string n : {"0", "1"}) {
        must("ip link add p" + n + " type veth peer name far" + n + " netns " + far_->name());
        must("ip link set p" + n + " master br0 up");
        const auto inside = far_->enter();
        must("ip link set far" + n + " up");
        must("ethtool -K far" + n + " gro on");
    }
    must("ip link set br0 up");
    for (const char* family : {"iptables", "ip6tables"})
        if (std::filesystem::exists(std::string("/proc/sys/net/bridge/bridge-nf-call-") + family))
            sysctl(std::string("net.bridge.bridge-nf-call-") + family, "0");
    // Stations that age slowly, so that no frame is needed to refresh them while a test runs.
    must("ip link set br0 type bridge ageing_time 3000000");
    ASSERT_TRUE(
        writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\n[kernel]\nrefresh = 1000000\n"));
}

void Daemon::TearDown() {
    process_.reset();
    std::error_code ignored;
    if (!directory_.empty())
        std::filesystem::remove_all(directory_, ignored);
}

void Daemon::start(const std::vector<std::string>& prefix) {
    auto words = prefix;
    words.insert(words.end(),
                 {TNAD, "--config", directory_ + "/conf", "--socket", socket(), "--log-level", "off"});
    process_.emplace(words);
}

std::string Daemon::stateOf(const std::string& port) const {
    const auto answer = ctl::Client(socket()).get(ctl::pathOfPort(port));
    return answer ? (*answer)["port"]["state"].get<std::string>() : answer.error().sentence();
}

bool Daemon::accelerated() const {
    return eventually([&] { return stateOf("p0") == "accelerated" && stateOf("p1") == "accelerated"; },
                      std::chrono::seconds(20));
}

nlohmann::json Daemon::events() const {
    return ctl::Client(socket()).get("/v1/events").value_or(nlohmann::json::object());
}

bool Daemon::xdpOn(const std::string& port) {
    return command({"ip", "link", "show", port}).output.find("xdp") != std::string::npos;
}

void Daemon::expectForwarding() {
    const auto inside = far_->enter();
    const PacketPort from("far0");
    const PacketPort to("far1");
    const auto frame = FrameBuilder().ethernet(station(2), station(1)).udp();
    from.send(frame);
    EXPECT_EQ(to.receive(), frame);
}

} // namespace tna::test
