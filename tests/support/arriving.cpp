// SPDX-License-Identifier: Apache-2.0
#include "support/arriving.hpp"

#include "base/unique_fd.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace tna::test {

namespace {
constexpr std::chrono::seconds lasting{4};

/// Of an address of either version.
std::pair<sockaddr_in6, UniqueFd> socketFor(const std::string& ip, int type) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(arrivingPort);
    const bool old = ip.find(':') == std::string::npos;
    ::inet_pton(AF_INET6, (old ? "::ffff:" + ip : ip).c_str(), &address.sin6_addr);
    return {address, UniqueFd{::socket(AF_INET6, type | SOCK_CLOEXEC, 0)}};
}
} // namespace

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

} // namespace tna::test
