// SPDX-License-Identifier: Apache-2.0
#include "support/transfer.hpp"

#include "base/unique_fd.hpp"
#include "support/eventually.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace tna::test {

namespace {
constexpr std::size_t transferred = 4U << 20U;

std::vector<std::uint8_t> someBytes(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(transferred);
    for (auto& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
    return bytes;
}

constexpr std::uint16_t somePort = 4000;

/// An address of IPv4 as IPv6 writes it, if need be.
sockaddr_in6 address(const std::string& ip) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(somePort);
    const bool old = ip.find(':') == std::string::npos;
    ::inet_pton(AF_INET6, (old ? "::ffff:" + ip : ip).c_str(), &address.sin6_addr);
    return address;
}

void setPatience(int fd) {
    const timeval patience{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

UniqueFd tcpSocket() {
    UniqueFd fd{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    setPatience(fd.get());
    return fd;
}

void sendAll(int fd, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto sent = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        ASSERT_GT(sent, 0) << std::strerror(errno);
        at += static_cast<std::size_t>(sent);
    }
}

std::vector<std::uint8_t> receiveAll(int fd) {
    std::vector<std::uint8_t> bytes(transferred);
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto got = ::recv(fd, bytes.data() + at, bytes.size() - at, 0);
        if (got <= 0)
            break;
        at += static_cast<std::size_t>(got);
    }
    bytes.resize(at);
    return bytes;
}

UniqueFd listenAt(const Namespace& servers, const std::string& ip) {
    const auto inside = servers.enter();
    auto listener = tcpSocket();
    const int one = 1;
    const auto here = address(ip);
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    return listener;
}

UniqueFd next(const UniqueFd& listener) {
    UniqueFd accepted{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    setPatience(accepted.get());
    return accepted;
}

void expectTransfer(int from, int to) {
    const auto bytes = someBytes(static_cast<unsigned>(from));
    std::thread sending([&] { sendAll(from, bytes); });
    const auto got = receiveAll(to);
    sending.join();
    EXPECT_TRUE(got == bytes) << "got " << got.size() << " bytes";
}

/// Byte by byte, by one socket and out of the other.
void expectPing(int from, int to) {
    char byte = 0;
    EXPECT_TRUE(::send(from, &byte, 1, MSG_NOSIGNAL) == 1 && ::recv(to, &byte, 1, 0) == 1)
        << std::strerror(errno);
}
} // namespace

UniqueFd connectTo(const Namespace& clients, const std::string& ip) {
    const auto inside = clients.enter();
    auto client = tcpSocket();
    const auto there = address(ip);
    if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&there), sizeof(there)) != 0)
        client.reset();
    return client;
}

UniqueFd acceptAt(const Namespace& servers, const std::string& ip) {
    return next(listenAt(servers, ip));
}

void transferToEcho(const UniqueFd& connection, const std::function<bool()>& ready) {
    EXPECT_TRUE(eventually(
        [&] {
            expectPing(connection.get(), connection.get());
            return ready() || ::testing::Test::HasFailure();
        },
        std::chrono::seconds(60)));
    expectTransfer(connection.get(), connection.get());
}

void transferBothWays(const Namespace& clients, const Namespace& servers, const std::string& ip,
                      const std::function<bool()>& ready, const std::string& knownAs) {
    const auto listener = listenAt(servers, ip);
    const auto client = connectTo(clients, knownAs.empty() ? ip : knownAs);
    ASSERT_TRUE(client) << std::strerror(errno);
    const auto server = next(listener);
    ASSERT_TRUE(server);
    EXPECT_TRUE(!ready || eventually([&] {
        expectPing(client.get(), server.get());
        expectPing(server.get(), client.get());
        return ready();
    }));
    // One way after the other: who sends and cannot read meanwhile has a window of zero in all its segments.
    expectTransfer(client.get(), server.get());
    expectTransfer(server.get(), client.get());
}

} // namespace tna::test
