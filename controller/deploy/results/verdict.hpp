// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

/// What the fast path would do with a frame.
struct Verdict {
    std::optional<model::IfIndex> egress; ///< the port it would leave by; nothing: it is left to Linux
    std::string code;                     ///< why it is left to Linux, as in tna/reasons.h; may be empty
    std::string text;
    std::vector<std::uint8_t> frame; ///< as it would leave
};

} // namespace tna::deploy
