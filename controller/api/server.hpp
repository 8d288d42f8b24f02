// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"

#include <memory>

namespace tna::api {

/// HTTP and JSON on a Unix stream socket of mode 0660.
class Server {
public:
    /// Serves until destruction. The socket belongs to `group` if there is such a group.
    [[nodiscard]] static Result<std::unique_ptr<Server>> start(Backend& backend, const std::string& path,
                                                               const std::string& group);
    virtual ~Server() = default;
};

} // namespace tna::api
