// SPDX-License-Identifier: Apache-2.0
#include "host_fixture.hpp"

#include "base/file.hpp"
#include "support/transfer.hpp"
#include "tnactl/client.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace tna::test {

void Host::SetUp() {
    if (const auto why = cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    char pattern[] = "/tmp/tna-host-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    host_.emplace();
    outside_.emplace();
    scope_.emplace(host_->enter());
    must("ip link set lo up");
    must("ip link add eth0 type veth peer name eth0 netns " + outside_->name());
    must("ip address add 198.51.100.1/24 dev eth0");
    must("ip link set eth0 up");
    must("tc qdisc add dev eth0 root pfifo_fast"); // as a card has one
    {
        const auto inside = outside_->enter();
        must("ip address add 198.51.100.2/24 dev eth0");
        must("ip link set eth0 up");
    }
    must("ip route add default via 198.51.100.2");
}

void Host::TearDown() {
    tnad_.reset();
    scope_.reset();
    if (directory_.empty())
        return;
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void Host::makeBridge() {
    must("ip link add br0 type bridge");
    must("ip address add 10.7.0.1/24 dev br0");
    must("ip link set br0 up");
    sysctl("net.ipv4.ip_forward", "1");
}

Host::Guest Host::attach(const std::string& name, const std::string& bridge, const std::string& address,
                         const std::string& gateway) {
    Guest guest{address, std::make_unique<Namespace>()};
    must("ip link add " + name + " type veth peer name eth0 netns " + guest.inside->name());
    must("ip link set " + name + " master " + bridge + " up");
    const auto inside = guest.inside->enter();
    must("ip link set lo up");
    must("ip address add " + address + "/24 dev eth0");
    must("ip link set eth0 up");
    must("ip route add default via " + gateway);
    return guest;
}

nlohmann::json Host::ports() const {
    const auto status = ctl::Client(directory_ + "/sock").get("/v1/status");
    return status ? (*status)["ports"] : nlohmann::json::array();
}

bool Host::accelerated(unsigned guests) const {
    return eventually([&] {
        const auto all = ports();
        return all.size() == guests + 1 &&
               std::ranges::all_of(all, [](const auto& port) { return port["state"] == "accelerated"; });
    });
}

void Host::accelerate(unsigned guests) {
    ASSERT_TRUE(writeFile(directory_ + "/conf", ""));
    tnad_.emplace(std::vector<std::string>{TNAD, "--config", directory_ + "/conf", "--socket",
                                           directory_ + "/sock", "--log-level", "off"});
    if (!accelerated(guests))
        GTEST_SKIP() << "ports are not accelerated at tcx here: " << ports().dump();
}

Host::Share::Share(const Host& host, unsigned rounds) : host_(host), wanted_(rounds), last_(count()) {}

Host::Share::Counts Host::Share::count() const {
    Counts sum;
    for (const auto& port : host_.ports()) {
        sum.fast += port["fast_packets"].get<double>();
        sum.slow += port["slow_packets"].get<double>();
    }
    return sum;
}

bool Host::Share::enough() {
    const auto now = count();
    if (!begin_ && now.fast - last_.fast >= 2)
        begin_ = now;
    last_ = now;
    if (!begin_ || ++rounds_ < wanted_)
        return false;
    const auto fast = now.fast - begin_->fast;
    share_ = fast / (fast + now.slow - begin_->slow);
    return true;
}

void Host::expectFast(const Namespace& clients, const Namespace& servers, const std::string& ip,
                      const std::string& knownAs) const {
    Share share(*this);
    transferBothWays(clients, servers, ip, [&] { return share.enough(); }, knownAs);
    EXPECT_GT(share.fast(), 0.95);
}

bool Host::reaches(const Namespace& from, const std::string& ip) {
    const auto inside = from.enter();
    const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    ::inet_pton(AF_INET, ip.c_str(), &to.sin_addr);
    ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
    pollfd one{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    int error = 0;
    socklen_t size = sizeof error;
    return ::poll(&one, 1, 1000) == 1 && ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           error == ECONNREFUSED;
}

} // namespace tna::test
