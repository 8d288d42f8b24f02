// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <memory>
#include <string>

struct delays;

namespace tna::bench {

/// What a device does with probes, for as long as this lives: it gives them to a socket, or sends them back.
class Hook {
public:
    enum class Does { toSocket, echo };
    [[nodiscard]] static Result<Hook> attach(const NetNamespace& where, const std::string& device, Does does);
    /// The map of the socket that gets them.
    [[nodiscard]] int sockets() const;

private:
    struct Destroy {
        void operator()(::delays* programs) const;
    };
    std::unique_ptr<::delays, Destroy> programs_;
    UniqueFd link_;
};

} // namespace tna::bench
