// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "api/listening.hpp"

#include <memory>

namespace tna::api {

/// Names of groups; of those that do not exist, nobody is a member.
struct Access {
    std::string group;       ///< the socket is its own: members may look
    std::string changeGroup; ///< who may also change something
};

/// HTTP and JSON on a Unix stream socket of mode 0660. Root may do everything.
class Server {
public:
    /// Serves until destruction. Who has connected before is answered then.
    [[nodiscard]] static Result<std::unique_ptr<Server>> start(Backend& backend, Listening listening,
                                                               const Access& access);
    [[nodiscard]] static Result<std::unique_ptr<Server>> start(Backend& backend, const std::string& path,
                                                               const Access& access);
    virtual ~Server() = default;
};

} // namespace tna::api
