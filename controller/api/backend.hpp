// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace tna::api {

/// What the API tells and changes; documents as in docs/api.md. Called from the server's threads.
class Backend {
public:
    virtual ~Backend() = default;
    virtual nlohmann::json status() = 0;
    /// Nothing if there is no such port.
    virtual std::optional<nlohmann::json> port(const std::string& name) = 0;
    /// What becomes of a packet that comes in by a port.
    virtual Result<nlohmann::json> route(const std::string& port, const std::string& from,
                                         const std::string& to) = 0;
    /// What happened since the start; cheap enough to be asked often.
    virtual nlohmann::json events() = 0;
    virtual nlohmann::json graph() = 0;
    virtual nlohmann::json capabilities() = 0;
    /// All ports if none is named. False if there is no such port.
    virtual bool pause(const std::optional<std::string>& port, bool paused) = 0;
};

} // namespace tna::api
