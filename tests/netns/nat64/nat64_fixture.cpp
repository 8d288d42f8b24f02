// SPDX-License-Identifier: Apache-2.0
#include "netns/nat64/nat64_fixture.hpp"

#include "support/frame.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace tna::test {

namespace {

void mustIn(const Namespace& where, const std::string& words) {
    const auto inside = where.enter();
    must(words);
}

CommandResult commandIn(const Namespace& where, const std::string& words) {
    std::istringstream stream(words);
    std::vector<std::string> arguments;
    for (std::string word; stream >> word;)
        arguments.push_back(word);
    const auto inside = where.enter();
    return command(arguments);
}

void setPatience(int fd, long milliseconds) {
    const timeval patience{milliseconds / 1000, milliseconds % 1000 * 1000};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

constexpr std::uint16_t udpPort = 7;
} // namespace

void Nat64Test::SetUp() {
    FunctionRouter::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    client_.emplace();
    server_.emplace();
    must("ip link add eth0 type veth peer name lan0 netns " + client_->name());
    must("ip link add eth1 type veth peer name wan0 netns " + server_->name());
    enableIpv6("eth0");
    must("ip link set eth0 address " + text(station(10)) + " up");
    must("ip link set eth1 address " + text(station(11)) + " up");
    must("ip address add 2001:db8::1/64 dev eth0 nodad");
    must("ip address add 192.0.2.1/24 dev eth1");
    sysctl("net.ipv4.conf.all.rp_filter", "1");
    sysctl("net.ipv4.icmp_ratelimit", "0");
    sysctl("net.ipv6.icmp.ratelimit", "0");
    {
        const auto inside = client_->enter();
        enableIpv6("lan0");
        must("ip link set lan0 address " + text(station(1)) + " up");
        must("ip address add 2001:db8::2/64 dev lan0 nodad");
        must("ip -6 route add default via 2001:db8::1");
    }
    mustIn(*server_, "ip link set wan0 address " + text(station(2)) + " up");
    mustIn(*server_, "ip address add 192.0.2.33/24 dev wan0");
    mustIn(*server_, "ip route add default via 192.0.2.1");
}

void Nat64Test::TearDown() {
    if (asking_ >= 0)
        ::close(asking_);
    FunctionRouter::TearDown();
}

void Nat64Test::makeDevice() {
    must("ip link add n64 type veth peer name n64p");
    enableIpv6("n64");
    must("ip link set n64 mtu 1700 arp off");
    must("ip link set n64p mtu 1700");
    must("ethtool -K n64 tx off");
    must("ip link set n64p up");
    must("ip link set n64 up");
    must("ip -6 route add 64:ff9b::/96 dev n64");
}

nlohmann::json Nat64Test::endTranslator() {
    EXPECT_EQ(function_->end(SIGTERM), 0);
    const auto all = said();
    const auto begin = all.rfind('{', all.find("\"answered\""));
    auto document =
        nlohmann::json::parse(begin == std::string::npos ? "" : all.substr(begin), nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << all;
    return document;
}

CommandResult Nat64Test::inClient(const std::string& words) const {
    return commandIn(*client_, words);
}

CommandResult Nat64Test::inServer(const std::string& words) const {
    return commandIn(*server_, words);
}

std::string Nat64Test::askServer(std::size_t bytes, bool fragmentable) {
    if (asking_ < 0) {
        const auto inside = client_->enter();
        asking_ = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        setPatience(asking_, 2000);
    }
    int answering = -1;
    {
        const auto inside = server_->enter();
        answering = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        setPatience(answering, 2000);
        if (fragmentable) {
            const int never = 0; // IP_PMTUDISC_DONT
            ::setsockopt(answering, IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof(never));
        }
    }
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(udpPort);
    EXPECT_EQ(::bind(answering, reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
    sockaddr_in6 there{};
    there.sin6_family = AF_INET6;
    there.sin6_port = htons(udpPort);
    ::inet_pton(AF_INET6, serverInIpv6, &there.sin6_addr);
    const std::string sent(bytes, 'x');
    ::sendto(asking_, sent.data(), sent.size(), 0, reinterpret_cast<const sockaddr*>(&there), sizeof(there));
    std::string got(bytes + 1, 0);
    sockaddr_in from{};
    socklen_t length = sizeof(from);
    const auto came =
        ::recvfrom(answering, got.data(), got.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    std::string whom = "nobody";
    if (came == static_cast<ssize_t>(bytes)) {
        whom = std::string(::inet_ntoa(from.sin_addr)) + ":" + std::to_string(ntohs(from.sin_port));
        ::sendto(answering, got.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&from), length);
        got.assign(bytes + 1, 0);
        if (::recv(asking_, got.data(), got.size(), 0) != static_cast<ssize_t>(bytes) ||
            got.substr(0, bytes) != sent)
            whom += " without an answer";
    }
    ::close(answering);
    return whom;
}

std::string Nat64Test::askServerUntilAnswered() {
    std::string whom;
    EXPECT_TRUE(eventually([&] {
        whom = askServer();
        return whom != "nobody" && whom.find("without") == std::string::npos;
    })) << whom;
    return whom;
}

} // namespace tna::test
