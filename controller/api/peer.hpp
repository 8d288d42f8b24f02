// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <sys/types.h>
#include <vector>

namespace tna::api {

/// Who is at the other end of a Unix socket, as the kernel noted it when they connected.
struct Peer {
    uid_t user = static_cast<uid_t>(-1);
    std::vector<gid_t> groups; ///< the effective one, and all others
};

[[nodiscard]] Result<Peer> peerOf(int socket);

} // namespace tna::api
