// SPDX-License-Identifier: Apache-2.0
// How fast it is between real sockets; nothing is expected: --gtest_also_run_disabled_tests.
#include "base/unique_fd.hpp"
#include "netns/nat64/nat64_fixture.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace tna::test {
namespace {

constexpr std::chrono::seconds lasting{4};
constexpr std::uint16_t port = 4001;

/// Of an address of either version.
std::pair<sockaddr_in6, UniqueFd> socketFor(const std::string& ip, int type) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    const bool old = ip.find(':') == std::string::npos;
    ::inet_pton(AF_INET6, (old ? "::ffff:" + ip : ip).c_str(), &address.sin6_addr);
    return {address, UniqueFd{::socket(AF_INET6, type | SOCK_CLOEXEC, 0)}};
}

/// Sends as much as it can; how much arrives in a second, in bytes (TCP) or packets.
double arriving(const Namespace& from, const Namespace& to, const std::string& ip, const std::string& knownAs,
                int type) {
    UniqueFd listener, client;
    sockaddr_in6 here{}, there{};
    {
        const auto inside = to.enter();
        std::tie(here, listener) = socketFor(ip, type);
        EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
        (void)::listen(listener.get(), 1);
    }
    {
        const auto inside = from.enter();
        std::tie(there, client) = socketFor(knownAs, type);
    }
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&there), sizeof(there)), 0);
    UniqueFd server =
        type == SOCK_STREAM ? UniqueFd{::accept(listener.get(), nullptr, nullptr)} : std::move(listener);
    const timeval patience{1, 0};
    ::setsockopt(server.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const auto until = std::chrono::steady_clock::now() + lasting;
    std::thread sending([&] {
        const std::vector<char> bytes(type == SOCK_STREAM ? 65536 : 18);
        while (std::chrono::steady_clock::now() < until)
            (void)::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ::shutdown(client.get(), SHUT_WR);
    });
    std::vector<char> bytes(65536);
    double sum = 0;
    while (std::chrono::steady_clock::now() < until) {
        const auto got = ::recv(server.get(), bytes.data(), bytes.size(), 0);
        sum += got < 0 ? 0 : type == SOCK_STREAM ? static_cast<double>(got) : 1;
    }
    sending.join();
    return sum / static_cast<double>(lasting.count());
}

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
    declare(deviceFunction);
    startTranslator("--pool 203.0.113.5");
    measure("by a pair of veths", serverInIpv6);
    fmt::print("{}\n", endTranslator().dump());
}

TEST_F(Nat64Speed, DISABLED_AtPorts) {
    withoutOffloads();
    sysctl("net.ipv4.conf.all.rp_filter", "0");
    enableIpv6("eth1");
    startTnad();
    declare("users = [\"nobody\"]\nports = [\"eth0\", \"eth1\"]\n[[rule]]\nports = [\"eth0\"]\nto = "
            "\"64:ff9b::/96\"\n[[rule]]\nports = [\"eth1\"]\nto = \"203.0.113.5\"\n");
    startTranslator("--pool 203.0.113.5 --then back");
    measure("at the ports", serverInIpv6);
    fmt::print("{}\n", endTranslator().dump());
}

} // namespace
} // namespace tna::test
