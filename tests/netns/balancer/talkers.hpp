// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "support/namespace.hpp"

#include <atomic>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <thread>
#include <vector>

namespace tna::test {

/// A server of TCP at an address: it says which one that is, and then whatever it is told.
class Talker {
public:
    Talker(const Namespace& where, const std::string& ip, std::uint16_t port);
    ~Talker() { stop(); }
    Talker(const Talker&) = delete;
    Talker& operator=(const Talker&) = delete;

    /// Nobody listens there any more, and its connections are reset.
    void stop();
    /// Address and port of who has connected last.
    [[nodiscard]] std::string lastClient() const;

private:
    void talk();
    void accept();

    std::string ip_;
    UniqueFd listener_, wake_;
    std::vector<UniqueFd> connections_;
    mutable std::mutex mutex_; ///< of the next one
    std::string lastClient_;
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

/// A datagram from clients to an address where a server has another one, and back; who the client has it
/// from, "" if from nobody.
[[nodiscard]] std::string datagramBothWays(const Namespace& clients, const std::string& ip,
                                           std::uint16_t port, const Namespace& servers,
                                           const std::string& serverIp, std::uint16_t serverPort);

/// A client's connection.
class Talk {
public:
    Talk(const Namespace& where, const std::string& ip, std::uint16_t port);

    /// Which address the server says that it has; "" if there is no connection.
    [[nodiscard]] const std::string& with() const { return with_; }
    /// As the client's kernel has it.
    [[nodiscard]] std::string self() const;
    /// What is said comes back.
    [[nodiscard]] bool echoes(std::size_t bytes = 100) const;
    void say(const std::string& words) const;
    [[nodiscard]] std::string hear(std::size_t bytes) const;

private:
    UniqueFd fd_;
    std::string with_;
};

[[nodiscard]] sockaddr_in6 socketAddress(const std::string& ip, std::uint16_t port);
[[nodiscard]] std::string text(const sockaddr_in6& address);

} // namespace tna::test
