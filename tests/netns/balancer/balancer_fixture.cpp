// SPDX-License-Identifier: Apache-2.0
#include "netns/balancer/balancer_fixture.hpp"

#include "base/file.hpp"
#include "support/frame.hpp"

#include <csignal>

namespace tna::test {

namespace {
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
    FunctionRouter::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
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
}

void BalancerTest::declare() const {
    declareAs(R"(
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
}

void BalancerTest::configure(const std::string& text) const {
    ASSERT_TRUE(writeFile(directory_ + "/balancer.toml", text));
}

void BalancerTest::reconfigure(const std::string& text) const {
    const auto before = said().size();
    configure(text);
    function_->signal(SIGHUP);
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

void BalancerTest::launchBalancer() {
    launch(directory_ + "/balancer.toml");
}

void BalancerTest::startBalancer() {
    launchAndWait(directory_ + "/balancer.toml");
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
    EXPECT_EQ(function_->end(SIGTERM), 0);
    auto document = statisticsIn(said());
    EXPECT_TRUE(document.is_object()) << said();
    return document;
}

nlohmann::json BalancerTest::statistics() const {
    const auto before = said();
    function_->signal(SIGUSR1);
    EXPECT_TRUE(eventually([&] {
        const auto now = said();
        return now.size() > before.size() && now.ends_with("}\n");
    })) << said();
    return statisticsIn(said());
}

} // namespace tna::test
