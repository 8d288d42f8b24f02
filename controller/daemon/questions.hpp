// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/supervisor.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tna::daemon {

/// Answers what people and programs ask; documents as in docs/api.md.
class Questions {
public:
    Questions(const Supervisor& supervisor, const Wanted& wanted, const Reporter& reporter)
        : supervisor_(supervisor), wanted_(wanted), reporter_(reporter) {}

    [[nodiscard]] nlohmann::json status() const;
    /// Nothing if there is no such port.
    [[nodiscard]] std::optional<nlohmann::json> port(const std::string& name) const;
    [[nodiscard]] nlohmann::json events() const;
    [[nodiscard]] nlohmann::json graph() const;
    [[nodiscard]] nlohmann::json capabilities() const;
    /// For people who ask systemd: how many ports are accelerated.
    [[nodiscard]] std::string summary() const;

private:
    [[nodiscard]] nlohmann::json selfCheck() const;

    const Supervisor& supervisor_;
    const Wanted& wanted_;
    const Reporter& reporter_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

} // namespace tna::daemon
