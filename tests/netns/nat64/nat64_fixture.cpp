// SPDX-License-Identifier: Apache-2.0
#include "netns/nat64/nat64_fixture.hpp"

#include "base/file.hpp"
#include "support/frame.hpp"
#include "support/kernel.hpp"
#include "tnactl/client.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tna::test {

void enableIpv6(const std::string& device) {
    sysctl("net.ipv6.conf." + device + ".accept_dad", "0");
    sysctl("net.ipv6.conf." + device + ".disable_ipv6", "0");
}

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
    if (kernelIsOlderThan(6, 6))
        GTEST_SKIP() << "functions that give frames back need Linux 6.6";
    Daemon::SetUp();
    if (IsSkipped() || HasFatalFailure())
        return;
    must("ip link del br0");
    must("ip link del p0");
    must("ip link del p1");
    client_.emplace();
    server_.emplace();
    must("ip link add eth0 type veth peer name lan0 netns " + client_->name());
    must("ip link add eth1 type veth peer name wan0 netns " + server_->name());
    enableIpv6("eth0");
    must("ip link set eth0 address " + text(station(10)) + " up");
    must("ip link set eth1 address " + text(station(11)) + " up");
    must("ip address add 2001:db8::1/64 dev eth0 nodad");
    must("ip address add 192.0.2.1/24 dev eth1");
    sysctl("net.ipv4.ip_forward", "1");
    sysctl("net.ipv6.conf.all.forwarding", "1");
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
    ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"" +
                                                    directory_ + "/functions.d\"\n"));
    std::filesystem::create_directory(directory_ + "/functions.d");
}

void Nat64Test::TearDown() {
    if (asking_ >= 0)
        ::close(asking_);
    translator_.reset();
    Daemon::TearDown();
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

void Nat64Test::startTnad() {
    start();
    ASSERT_TRUE(eventually([&] { return ctl::Client(socket()).get("/v1/status").has_value(); }));
}

void Nat64Test::declare(const std::string& text) const {
    const auto answer = ctl::Client(socket()).put("/v1/functions/nat64", text);
    ASSERT_TRUE(answer) << answer.error().sentence();
}

std::string Nat64Test::state() const {
    const auto answer = ctl::Client(socket()).get("/v1/functions/nat64");
    return answer ? answer->value("state", "") : answer.error().sentence();
}

void Nat64Test::startTranslator(const std::string& options) {
    translator_ = std::make_unique<Process>(
        std::vector<std::string>{"setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups",
                                 "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "sh", "-c",
                                 std::string("exec ") + TNA_NAT64 + " nat64 --json --socket " + directory_ +
                                     "/functions.sock " + options + " >" + directory_ + "/said 2>&1"});
    EXPECT_TRUE(eventually([&] { return state() == "connected"; }))
        << state() << ' ' << readFile(directory_ + "/said").value_or("");
}

nlohmann::json Nat64Test::endTranslator() {
    EXPECT_EQ(translator_->end(SIGTERM), 0);
    const auto said = readFile(directory_ + "/said").value_or("");
    const auto begin = said.rfind('{', said.find("\"answered\""));
    auto document =
        nlohmann::json::parse(begin == std::string::npos ? "" : said.substr(begin), nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << said;
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
