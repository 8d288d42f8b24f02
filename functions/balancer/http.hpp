// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace tna::balancer {

/// Asks for `path`, once.
[[nodiscard]] std::string httpRequest(const std::string& path, const std::string& host);

/// What is against the server, by the beginning of its answer; "": nothing, it is status 200. None: that
/// cannot be said yet. `ended`: there is no more.
[[nodiscard]] std::optional<std::string> httpVerdict(const std::string& answer, bool ended);

} // namespace tna::balancer
