// SPDX-License-Identifier: Apache-2.0
#include "diff/ears.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tna::diff {

namespace {
constexpr int room = 64 << 20;

struct Protocol {
    const char* name;
    int family;
    int number;
};
constexpr Protocol protocols[] = {{"ICMP", AF_INET, IPPROTO_ICMP},     {"UDP", AF_INET, IPPROTO_UDP},
                                  {"TCP", AF_INET, IPPROTO_TCP},       {"ICMPv6", AF_INET6, IPPROTO_ICMPV6},
                                  {"UDP/IPv6", AF_INET6, IPPROTO_UDP}, {"TCP/IPv6", AF_INET6, IPPROTO_TCP}};

/// Neighbours and routers ask each other when they like.
void keepEchoesAndErrors(int fd) {
    icmp6_filter filter{};
    ICMP6_FILTER_SETPASSALL(&filter);
    for (int type = ND_ROUTER_SOLICIT; type <= ND_REDIRECT; type++)
        ICMP6_FILTER_SETBLOCK(type, &filter);
    for (const int type : {MLD_LISTENER_QUERY, MLD_LISTENER_REPORT, MLD_LISTENER_REDUCTION, 143})
        ICMP6_FILTER_SETBLOCK(type, &filter);
    ::setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof(filter));
}

std::string from(const sockaddr_in6& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
    return text.data();
}
} // namespace

Result<Ears> Ears::open() {
    Ears made;
    for (const auto& [name, family, number] : protocols) {
        UniqueFd fd{::socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, number)};
        if (!fd && errno == EAFNOSUPPORT)
            continue;
        if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
            return failErrno(errno, "cannot open a raw socket for {}", name);
        if (number == IPPROTO_ICMPV6)
            keepEchoesAndErrors(fd.get());
        made.ears_.push_back({name, std::move(fd)});
    }
    return made;
}

std::vector<std::string> Ears::heard(const Own& own) const {
    std::vector<std::string> found;
    std::array<std::uint8_t, 65536> bytes{};
    for (const auto& [name, fd] : ears_) {
        sockaddr_in6 sender{};
        socklen_t size = sizeof(sender);
        for (ssize_t n = 0; (n = ::recvfrom(fd.get(), bytes.data(), bytes.size(), 0,
                                            reinterpret_cast<sockaddr*>(&sender), &size)) >= 0;
             size = sizeof(sender)) {
            Frame packet(bytes.begin(), bytes.begin() + n);
            if (sender.sin6_family == AF_INET && quotesUnasked(packet, own))
                continue;
            if (sender.sin6_family == AF_INET)
                forgetChanceInPacket(packet, own);
            auto line = name + (sender.sin6_family == AF_INET6 ? " from " + from(sender) : "") + ":";
            for (const auto byte : packet)
                line += fmt::format(" {:02x}", byte);
            found.push_back(std::move(line));
        }
    }
    return found;
}

} // namespace tna::diff
