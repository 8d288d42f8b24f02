// SPDX-License-Identifier: Apache-2.0
#include "netns/balancer/talkers.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace tna::test {

namespace {
const sockaddr* plain(const sockaddr_in6& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

UniqueFd socketIn(const Namespace& where, int type) {
    const auto inside = where.enter();
    UniqueFd fd{::socket(AF_INET6, type | SOCK_CLOEXEC, 0)};
    const timeval patience{15, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return fd;
}

void sendAll(int fd, const std::string& words) {
    for (std::size_t at = 0; at < words.size();) {
        const auto sent = ::send(fd, words.data() + at, words.size() - at, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += static_cast<std::size_t>(sent);
    }
}
} // namespace

sockaddr_in6 socketAddress(const std::string& ip, std::uint16_t port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    const bool old = ip.find(':') == std::string::npos;
    ::inet_pton(AF_INET6, (old ? "::ffff:" + ip : ip).c_str(), &address.sin6_addr);
    return address;
}

std::string text(const sockaddr_in6& address) {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const std::string ip = ::inet_ntop(AF_INET6, &address.sin6_addr, buffer.data(), buffer.size());
    return (ip.starts_with("::ffff:") ? ip.substr(7) : ip) + " " + std::to_string(ntohs(address.sin6_port));
}

Talker::Talker(const Namespace& where, const std::string& ip, std::uint16_t port)
    : ip_(ip), listener_(socketIn(where, SOCK_STREAM)), wake_(::eventfd(0, EFD_CLOEXEC)) {
    const int one = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    const auto here = socketAddress(ip, port);
    EXPECT_EQ(::bind(listener_.get(), plain(here), sizeof(here)), 0) << ip << ' ' << std::strerror(errno);
    EXPECT_EQ(::listen(listener_.get(), 100), 0);
    thread_ = std::thread([this] { talk(); });
}

void Talker::stop() {
    if (stopped_.exchange(true))
        return;
    (void)::eventfd_write(wake_.get(), 1);
    thread_.join();
    listener_.reset();
    for (const auto& connection : connections_) {
        const linger now{1, 0};
        ::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    connections_.clear();
}

void Talker::accept() {
    sockaddr_in6 from{};
    socklen_t length = sizeof(from);
    UniqueFd fd{::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC)};
    if (!fd)
        return;
    {
        const std::scoped_lock lock(mutex_);
        lastClient_ = text(from);
    }
    sendAll(fd.get(), ip_ + "\n");
    connections_.push_back(std::move(fd));
}

std::string Talker::lastClient() const {
    const std::scoped_lock lock(mutex_);
    return lastClient_;
}

void Talker::talk() {
    std::vector<char> bytes(65536);
    while (!stopped_) {
        std::vector<pollfd> all{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        for (const auto& connection : connections_)
            all.push_back({connection.get(), POLLIN, 0});
        (void)::poll(all.data(), all.size(), -1);
        for (std::size_t i = all.size(); i-- > 2;) {
            if (all[i].revents == 0)
                continue;
            const auto got = ::recv(all[i].fd, bytes.data(), bytes.size(), 0);
            if (got > 0)
                sendAll(all[i].fd, {bytes.data(), static_cast<std::size_t>(got)});
            else
                connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i - 2));
        }
        if (all[1].revents != 0)
            accept();
    }
}

std::string datagramBothWays(const Namespace& clients, const std::string& ip, std::uint16_t port,
                             const Namespace& servers, const std::string& serverIp,
                             std::uint16_t serverPort) {
    const auto client = socketIn(clients, SOCK_DGRAM), server = socketIn(servers, SOCK_DGRAM);
    const auto here = socketAddress(serverIp, serverPort), there = socketAddress(ip, port);
    EXPECT_EQ(::bind(server.get(), plain(here), sizeof(here)), 0) << std::strerror(errno);
    ::sendto(client.get(), "question", 8, 0, plain(there), sizeof(there));
    std::array<char, 16> words{};
    sockaddr_in6 from{};
    socklen_t length = sizeof(from);
    auto* const whom = reinterpret_cast<sockaddr*>(&from);
    if (::recvfrom(server.get(), words.data(), words.size(), 0, whom, &length) != 8)
        return "";
    ::sendto(server.get(), "answer", 6, 0, whom, length);
    return ::recvfrom(client.get(), words.data(), words.size(), 0, whom, &length) == 6 ? text(from) : "";
}

Talk::Talk(const Namespace& where, const std::string& ip, std::uint16_t port)
    : fd_(socketIn(where, SOCK_STREAM)) {
    const auto there = socketAddress(ip, port);
    if (::connect(fd_.get(), plain(there), sizeof(there)) != 0)
        return;
    for (char letter = 0; ::recv(fd_.get(), &letter, 1, 0) == 1 && letter != '\n';)
        with_ += letter;
}

std::string Talk::self() const {
    sockaddr_in6 address{};
    socklen_t length = sizeof(address);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    return text(address);
}

void Talk::say(const std::string& words) const {
    sendAll(fd_.get(), words);
}

std::string Talk::hear(std::size_t bytes) const {
    std::string words(bytes, 0);
    std::size_t at = 0;
    while (at < bytes) {
        const auto got = ::recv(fd_.get(), words.data() + at, bytes - at, 0);
        if (got <= 0)
            break;
        at += static_cast<std::size_t>(got);
    }
    words.resize(at);
    return words;
}

/// In pieces that fit into the buffers of sockets, so that nobody waits for the other one.
bool Talk::echoes(std::size_t bytes) const {
    constexpr std::size_t most = 16384;
    char letter = 'a';
    for (std::size_t left = bytes; left != 0;) {
        const auto length = std::min(left, most);
        std::string words(length, letter);
        for (std::size_t i = 0; i < length; i += 251)
            words[i] = static_cast<char>(i + bytes);
        say(words);
        if (hear(length) != words)
            return false;
        left -= length;
        letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
    }
    return true;
}

} // namespace tna::test
