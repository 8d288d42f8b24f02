// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/sockets.hpp"

#include "base/unique_fd.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr std::uint16_t port = 7000;
constexpr std::size_t atOnce = 1U << 17U;
constexpr timeval patience{10, 0};
/// What is under way when the last datagram has been sent.
constexpr auto quiet = std::chrono::milliseconds(100);

Result<UniqueFd> socketIn(const NetNamespace& home, int type) {
    auto inside = NamespaceScope::enter(home);
    if (!inside)
        return std::unexpected(inside.error());
    UniqueFd fd{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
    const int one = 1;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0)
        return failErrno(errno, "cannot make a socket");
    return fd;
}

sockaddr_in addressOf(const std::string& ip) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, ip.c_str(), &address.sin_addr);
    return address;
}

struct Ends {
    UniqueFd client;
    UniqueFd server;
};

Result<Ends> connected(const Talkers& talkers, int type) {
    auto server = socketIn(talkers.server, type);
    if (!server)
        return std::unexpected(server.error());
    auto client = socketIn(talkers.client, type);
    if (!client)
        return std::unexpected(client.error());
    const auto address = addressOf(talkers.address);
    const auto* at = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(server->get(), at, sizeof(address)) != 0 ||
        (type == SOCK_STREAM && ::listen(server->get(), 1) != 0))
        return failErrno(errno, "cannot listen to {}", talkers.address);
    if (::connect(client->get(), at, sizeof(address)) != 0)
        return failErrno(errno, "cannot connect to {}", talkers.address);
    if (type == SOCK_DGRAM)
        return Ends{std::move(*client), std::move(*server)};
    UniqueFd accepted{::accept4(server->get(), nullptr, nullptr, SOCK_CLOEXEC)};
    const int one = 1;
    if (!accepted || ::setsockopt(client->get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
        ::setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
        return failErrno(errno, "nobody answers at {}", talkers.address);
    return Ends{std::move(*client), std::move(accepted)};
}

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool receiveWhole(int fd, std::vector<char>& buffer) {
    return ::recv(fd, buffer.data(), buffer.size(), MSG_WAITALL) == static_cast<ssize_t>(buffer.size());
}

bool sendWhole(int fd, const std::vector<char>& buffer) {
    return ::send(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(buffer.size());
}
} // namespace

Result<double> requestsPerSecond(const Talkers& talkers, std::size_t bytes,
                                 std::chrono::duration<double> time) {
    auto ends = connected(talkers, SOCK_STREAM);
    if (!ends)
        return std::unexpected(ends.error());
    std::thread server([&] {
        std::vector<char> buffer(bytes);
        while (receiveWhole(ends->server.get(), buffer) && sendWhole(ends->server.get(), buffer)) {
        }
    });
    std::vector<char> buffer(bytes);
    std::uint64_t answered = 0;
    bool alive = true;
    const auto start = Clock::now();
    while (alive && secondsSince(start) < time.count())
        if (alive = sendWhole(ends->client.get(), buffer) && receiveWhole(ends->client.get(), buffer); alive)
            answered++;
    const double took = secondsSince(start);
    ::shutdown(ends->client.get(), SHUT_RDWR);
    server.join();
    if (!alive)
        return fail("{} does not answer any more", talkers.address);
    return static_cast<double>(answered) / took;
}

Result<double> bitsPerSecond(const Talkers& talkers, std::chrono::duration<double> time) {
    auto ends = connected(talkers, SOCK_STREAM);
    if (!ends)
        return std::unexpected(ends.error());
    std::uint64_t arrived = 0;
    const auto start = Clock::now();
    double took = 0;
    std::thread server([&] {
        std::vector<char> buffer(atOnce);
        for (ssize_t got = 1; got > 0;) {
            got = ::recv(ends->server.get(), buffer.data(), buffer.size(), 0);
            arrived += got > 0 ? static_cast<std::uint64_t>(got) : 0;
        }
        took = secondsSince(start);
    });
    const std::vector<char> buffer(atOnce);
    while (secondsSince(start) < time.count() &&
           ::send(ends->client.get(), buffer.data(), buffer.size(), MSG_NOSIGNAL) > 0) {
    }
    ::shutdown(ends->client.get(), SHUT_WR);
    server.join();
    if (arrived == 0)
        return fail("nothing arrives at {}", talkers.address);
    constexpr double bits = 8;
    return static_cast<double>(arrived) * bits / took;
}

namespace {
/// One datagram and its answer, now and then for so long.
void talk(const Ends& ends, std::size_t bytes, std::chrono::duration<double> time) {
    std::vector<char> buffer(bytes);
    sockaddr_in from{};
    for (const auto start = Clock::now(); secondsSince(start) < time.count();) {
        socklen_t size = sizeof(from);
        auto* at = reinterpret_cast<sockaddr*>(&from);
        (void)::send(ends.client.get(), buffer.data(), buffer.size(), MSG_NOSIGNAL);
        if (::recvfrom(ends.server.get(), buffer.data(), buffer.size(), 0, at, &size) > 0)
            (void)::sendto(ends.server.get(), buffer.data(), buffer.size(), MSG_NOSIGNAL, at, size);
        (void)::recv(ends.client.get(), buffer.data(), buffer.size(), 0);
        std::this_thread::sleep_for(quiet);
    }
}
} // namespace

Result<double> datagramsPerSecond(const Talkers& talkers, std::size_t bytes,
                                  std::chrono::duration<double> time, std::chrono::duration<double> before) {
    auto ends = connected(talkers, SOCK_DGRAM);
    if (!ends)
        return std::unexpected(ends.error());
    talk(*ends, bytes, before);
    std::atomic<std::uint64_t> arrived = 0;
    std::thread server([&] {
        std::vector<char> buffer(bytes);
        while (::recv(ends->server.get(), buffer.data(), buffer.size(), 0) > 1)
            arrived++;
    });
    const std::vector<char> buffer(bytes);
    const auto start = Clock::now();
    while (secondsSince(start) < time.count())
        (void)::send(ends->client.get(), buffer.data(), buffer.size(), MSG_NOSIGNAL);
    const double took = secondsSince(start);
    std::this_thread::sleep_for(quiet);
    ::shutdown(ends->server.get(), SHUT_RDWR); // wakes who waits, though nothing is connected
    server.join();
    if (arrived == 0)
        return fail("nothing arrives at {}", talkers.address);
    return static_cast<double>(arrived) / took;
}

} // namespace tna::bench
