// SPDX-License-Identifier: Apache-2.0
#include "netns/balancer/balancer_fixture.hpp"

#include "base/file.hpp"
#include "support/frame.hpp"
#include "support/kernel.hpp"
#include "tnactl/client.hpp"

#include <csignal>
#include <filesystem>
#include <sys/stat.h>

namespace tna::test {

namespace {
void enableIpv6(const std::string& device) {
    sysctl("net.ipv6.conf." + device + ".accept_dad", "0");
    sysctl("net.ipv6.conf." + device + ".disable_ipv6", "0");
}

/// One end of a link to the router, with its addresses; what it sends is complete, checksums included.
void makeHost(const Namespace& where, const std::string& device, unsigned number,
              const std::vector<std::string>& addresses, const std::vector<std::string>& routers) {
    const auto inside = where.enter();
    enableIpv6(device);
    must("ip link set " + device + " address " + text(station(static_cast<std::uint8_t>(number))) + " up");
    must("ethtool -K " + device + " tx off");
    for (const auto& address : addresses)
        must("ip address add " + address + " dev " + device + " nodad");
    for (const auto& router : routers)
        must("ip route add default via " + router);
}
} // namespace

void BalancerTest::SetUp() {
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "functions that give frames back need Linux 6.6";
    Daemon::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    must("ip link del br0");
    must("ip link del p0");
    must("ip link del p1");
    clients_.emplace();
    servers_.emplace();
    must("ip link add eth0 type veth peer name lan0 netns " + clients_->name());
    must("ip link add eth1 type veth peer name rack0 netns " + servers_->name());
    const std::pair<const char*, std::vector<const char*>> ports[] = {
        {"eth0", {"198.51.100.1/24", "2001:db8::1/64"}}, {"eth1", {"10.0.1.1/24", "2001:db8:1::1/64"}}};
    std::uint8_t number = 10;
    for (const auto& [port, addresses] : ports) {
        enableIpv6(port);
        must(std::string("ip link set ") + port + " address " + text(station(number++)) + " up");
        for (const auto* address : addresses)
            must(std::string("ip address add ") + address + " dev " + port + " nodad");
    }
    sysctl("net.ipv4.ip_forward", "1");
    sysctl("net.ipv6.conf.all.forwarding", "1");
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    // Nobody else answers, and nothing of servers passes as it is, when the balancer or tnad is away.
    must("ip route add blackhole 192.0.2.80");
    must("ip -6 route add blackhole 2001:db8:2::80");
    must("ip rule add iif eth1 from 10.0.1.0/24 ipproto tcp sport 8080 blackhole");
    must("ip -6 rule add iif eth1 from 2001:db8:1::/64 ipproto tcp sport 8080 blackhole");
    makeHost(*clients_, "lan0", 1, {"198.51.100.2/24", "2001:db8::2/64"}, {"198.51.100.1", "2001:db8::1"});
    makeHost(*servers_, "rack0", 2,
             {"10.0.1.11/24", "10.0.1.12/24", "2001:db8:1::11/64", "2001:db8:1::12/64"},
             {"10.0.1.1", "2001:db8:1::1"});
    ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"" +
                                                    directory_ + "/functions.d\"\n"));
    std::filesystem::create_directory(directory_ + "/functions.d");
}

void BalancerTest::TearDown() {
    balancer_.reset();
    Daemon::TearDown();
}

void BalancerTest::startTnad() {
    start();
    ASSERT_TRUE(eventually([&] { return ctl::Client(socket()).get("/v1/status").has_value(); }));
}

void BalancerTest::declare() const {
    const auto answer = ctl::Client(socket()).put("/v1/functions/balancer", R"(
users = ["nobody"]
ports = ["eth0", "eth1"]
otherwise = "drop"
[[rule]]
ports = ["eth0"]
to = "192.0.2.80"
[[rule]]
ports = ["eth0"]
to = "2001:db8:2::80"
[[rule]]
ports = ["eth1"]
from = "10.0.1.0/24"
[[rule]]
ports = ["eth1"]
ether_type = "ipv6"
from = "2001:db8:1::/64"
)");
    ASSERT_TRUE(answer) << answer.error().sentence();
}

void BalancerTest::configure(const std::string& text) const {
    ASSERT_TRUE(writeFile(directory_ + "/balancer.toml", text));
}

void BalancerTest::reconfigure(const std::string& text) const {
    const auto before = said().size();
    configure(text);
    balancer_->signal(SIGHUP);
    EXPECT_TRUE(eventually([&] {
        const auto now = said().substr(before);
        return now.find("read again") != std::string::npos || now.find("all stays") != std::string::npos;
    })) << said();
}

std::string checkedService(const std::string& check) {
    std::string text = oneService;
    text.insert(text.find("[[service.backend]]"), check);
    return text;
}

std::string BalancerTest::state() const {
    const auto answer = ctl::Client(socket()).get("/v1/functions/balancer");
    return answer ? answer->value("state", "") : answer.error().sentence();
}

std::string BalancerTest::said() const {
    return readFile(directory_ + "/said").value_or("");
}

void BalancerTest::launchBalancer() {
    balancer_ = std::make_unique<Process>(std::vector<std::string>{
        "setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--no-new-privs",
        "--inh-caps=-all", "--bounding-set=-all", "sh", "-c",
        std::string("exec ") + TNA_BALANCER + " balancer " + directory_ + "/balancer.toml --json --socket " +
            directory_ + "/functions.sock >" + directory_ + "/said 2>&1"});
}

void BalancerTest::startBalancer() {
    launchBalancer();
    EXPECT_TRUE(eventually([&] { return state() == "connected"; })) << state() << ' ' << said();
}

namespace {
/// The last line that says all.
nlohmann::json statisticsIn(const std::string& said) {
    const auto begin = said.rfind("{\"invalid\"");
    const auto end = begin == std::string::npos ? begin : said.find('\n', begin);
    return end == std::string::npos ? nlohmann::json{}
                                    : nlohmann::json::parse(said.substr(begin, end - begin), nullptr, false);
}
} // namespace

nlohmann::json BalancerTest::endBalancer() {
    EXPECT_EQ(balancer_->end(SIGTERM), 0);
    auto document = statisticsIn(said());
    EXPECT_TRUE(document.is_object()) << said();
    return document;
}

nlohmann::json BalancerTest::statistics() const {
    const auto before = said();
    balancer_->signal(SIGUSR1);
    EXPECT_TRUE(eventually([&] {
        const auto now = said();
        return now.size() > before.size() && now.ends_with("}\n");
    })) << said();
    return statisticsIn(said());
}

} // namespace tna::test
