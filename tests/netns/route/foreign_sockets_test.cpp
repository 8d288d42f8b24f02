// SPDX-License-Identifier: Apache-2.0
// A socket that is connected from an address which is not this host's: Linux finds it before it looks for a
// route (early demultiplexing), and drops what it would have to forward. A known difference.
#include "route_fixture.hpp"

#include <netdb.h>
#include <netinet/tcp.h>

namespace tna::test {
namespace {

constexpr std::uint16_t sender = 4000;
constexpr std::uint16_t receiver = 4001;

/// For bind() and connect().
int with(int (*call)(int, const sockaddr*, socklen_t), const UniqueFd& fd, const char* address,
         std::uint16_t port) {
    const addrinfo numeric{.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    addrinfo* found = nullptr;
    EXPECT_EQ(::getaddrinfo(address, std::to_string(port).c_str(), &numeric, &found), 0);
    const int result = call(fd.get(), found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    return result;
}

/// Connected in the place of the host behind p1 to the one behind p0; nothing is sent for that.
UniqueFd foreignSocket(int type, bool six) {
    UniqueFd fd{::socket(six ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0)};
    const auto set = [&](int level, int option) {
        const int on = 1;
        EXPECT_EQ(::setsockopt(fd.get(), level, option, &on, sizeof(on)), 0);
    };
    if (six)
        set(IPPROTO_IPV6, IPV6_TRANSPARENT);
    else
        set(IPPROTO_IP, IP_TRANSPARENT);
    if (type == SOCK_STREAM)
        set(IPPROTO_TCP, TCP_REPAIR);
    EXPECT_EQ(with(::bind, fd, six ? "fd00:0:0:1::2" : "10.0.1.2", receiver), 0);
    EXPECT_EQ(with(::connect, fd, six ? "fd00::2" : "10.0.0.2", sender), 0);
    return fd;
}

/// The packet gets a header of UDP, or one of TCP.
Frame forSocket(Frame frame) {
    const std::size_t at = 14 + (isIpv6(frame) ? 40 : 20);
    std::fill(frame.bytes.begin() + static_cast<std::ptrdiff_t>(at), frame.bytes.end(), std::uint8_t{0});
    for (const auto& [place, port] : {std::pair{at, sender}, std::pair{at + 2, receiver}}) {
        frame.bytes[place] = static_cast<std::uint8_t>(port >> 8U);
        frame.bytes[place + 1] = static_cast<std::uint8_t>(port);
    }
    frame.bytes[at + 12] = 5U << 4U; // words of a header of TCP
    return frame;
}

template <typename Router>
class ForeignSockets : public Router {
protected:
    void expectToMatterToLinuxAlone(int type, const Frame& frame) {
        const auto socket = foreignSocket(type, isIpv6(frame));
        EXPECT_EQ(this->treat(frame).out, Arrivals{}) << "Linux forwards it now";
        sysctl("net.ipv4.ip_early_demux", "0");
        EXPECT_EQ(this->treat(frame).out, this->routedTo(frame)) << "there is a way to have it forwarded";
        sysctl("net.ipv4.ip_early_demux", "1");
        EXPECT_EQ(this->treat(frame).out, Arrivals{});
        this->accelerate();
        if (!this->IsSkipped())
            this->expectFast(frame);
    }
};

using ForeignSockets4 = ForeignSockets<RouteTest>;
using ForeignSockets6 = ForeignSockets<Route6Test>;

TEST_F(ForeignSockets4, OfUdpMatterToLinuxAlone) {
    expectToMatterToLinuxAlone(SOCK_DGRAM, forSocket(packet({.protocol = IPPROTO_UDP})));
}

TEST_F(ForeignSockets4, OfTcpMatterToLinuxAlone) {
    expectToMatterToLinuxAlone(SOCK_STREAM, forSocket(packet({.protocol = IPPROTO_TCP})));
}

TEST_F(ForeignSockets6, OfUdpMatterToLinuxAlone) {
    expectToMatterToLinuxAlone(SOCK_DGRAM, forSocket(packet({.next = IPPROTO_UDP})));
}

TEST_F(ForeignSockets6, OfTcpMatterToLinuxAlone) {
    expectToMatterToLinuxAlone(SOCK_STREAM, forSocket(packet({.next = IPPROTO_TCP})));
}

} // namespace
} // namespace tna::test
