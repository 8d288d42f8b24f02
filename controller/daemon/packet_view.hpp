// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace tna::daemon {

/// What the beginning of a frame says, as docs/api.md has it; nothing of what is not there.
[[nodiscard]] nlohmann::json viewPacket(std::span<const std::uint8_t> head);

} // namespace tna::daemon
