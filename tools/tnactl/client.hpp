// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace tna::ctl {

/// A failed request, and how the program should end.
struct Failure {
    Error error;
    ExitCode code = ExitCode::failure;
};

template <typename T>
using Answer = std::expected<T, Failure>;

/// Talks to tnad over its Unix socket.
class Client {
public:
    explicit Client(std::string socket) : socket_(std::move(socket)) {}
    [[nodiscard]] Answer<nlohmann::json> get(const std::string& path) const;
    [[nodiscard]] Answer<nlohmann::json> post(const std::string& path, const nlohmann::json& body) const;

private:
    [[nodiscard]] Answer<void> reachable() const;
    std::string socket_;
};

} // namespace tna::ctl
