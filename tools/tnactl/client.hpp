// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tna/client.hpp>

namespace tna::ctl {

/// Where a port's document is; names may contain anything but '/' and blanks.
[[nodiscard]] std::string pathOfPort(const std::string& name);

using client::encoded;

/// Where it is told what becomes of a packet that comes in by a port.
[[nodiscard]] std::string pathOfRoute(const std::string& port, const std::string& from,
                                      const std::string& to);

/// Talks to tnad over its Unix socket.
class Client {
public:
    explicit Client(std::string socket) : socket_(std::move(socket)) {}
    /// Large rule sets take long to be read and judged.
    static constexpr std::chrono::milliseconds readingOfRules{30000};
    [[nodiscard]] Result<nlohmann::json>
    get(const std::string& path, std::chrono::milliseconds longest = client::Daemon::patience) const;
    /// The body is bytes, not JSON.
    [[nodiscard]] Result<nlohmann::json> put(const std::string& path, const std::string& body) const;
    [[nodiscard]] Result<nlohmann::json> remove(const std::string& path) const;
    [[nodiscard]] Result<nlohmann::json> post(const std::string& path, const nlohmann::json& body) const;
    /// Hands on each document that comes, until it says false or tnad ends.
    [[nodiscard]] Result<void> follow(const char* method, const std::string& path, const nlohmann::json& body,
                                      const std::function<bool(const nlohmann::json&)>& onDocument) const;

private:
    [[nodiscard]] Result<nlohmann::json>
    ask(const char* method, const std::string& path, const std::string& body = {},
        std::chrono::milliseconds longest = client::Daemon::patience) const;
    [[nodiscard]] Result<void> reachable() const;
    std::string socket_;
};

} // namespace tna::ctl
