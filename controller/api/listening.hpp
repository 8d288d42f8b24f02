// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/unique_fd.hpp"

#include <optional>
#include <sys/types.h>

namespace tna::api {

/// The id of a group; nothing if there is none of this name.
[[nodiscard]] std::optional<gid_t> idOf(const std::string& group);

/// A Unix stream socket of mode 0660 at a path, which belongs to a group if there is one of this name.
/// Whatever else lies there stays there, but for a socket that nobody answers on.
[[nodiscard]] Result<UniqueFd> listenOn(const std::string& path, const std::string& group);

} // namespace tna::api
