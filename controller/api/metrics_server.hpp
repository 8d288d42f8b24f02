// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::api {

/// Metrics, and nothing else, over TCP, for those who cannot reach the control socket.
class MetricsServer {
public:
    /// `address` is ADDRESS:PORT or [ADDRESS]:PORT, without names.
    [[nodiscard]] static Result<UniqueFd> listen(const std::string& address);
    /// Serves until destruction. `status` gives the status document, and is called from the server's threads.
    [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(std::function<nlohmann::json()> status,
                                                                      UniqueFd listening);
    /// Both.
    [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(std::function<nlohmann::json()> status,
                                                                      const std::string& address);
    virtual ~MetricsServer() = default;
};

} // namespace tna::api
