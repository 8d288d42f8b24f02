// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"

#include <memory>

namespace tna::api {

/// Metrics, and nothing else, over TCP, for those who cannot reach the control socket.
class MetricsServer {
public:
    /// Serves until destruction. `address` is ADDRESS:PORT or [ADDRESS]:PORT, without names.
    [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(Backend& backend,
                                                                      const std::string& address);
    virtual ~MetricsServer() = default;
};

} // namespace tna::api
