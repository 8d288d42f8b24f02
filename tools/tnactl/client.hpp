// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::ctl {

/// Where a port's document is; names may contain anything but '/' and blanks.
[[nodiscard]] std::string pathOfPort(const std::string& name);

/// Where it is told what becomes of a packet that comes in by a port.
[[nodiscard]] std::string pathOfRoute(const std::string& port, const std::string& from,
                                      const std::string& to);

/// Talks to tnad over its Unix socket.
class Client {
public:
    explicit Client(std::string socket) : socket_(std::move(socket)) {}
    [[nodiscard]] Result<nlohmann::json> get(const std::string& path) const;
    [[nodiscard]] Result<nlohmann::json> post(const std::string& path, const nlohmann::json& body) const;

private:
    [[nodiscard]] Result<void> reachable() const;
    std::string socket_;
};

} // namespace tna::ctl
