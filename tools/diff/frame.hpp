// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wires/frame.hpp"

namespace tna::diff {

using wires::byteAt;
using wires::Frame;
using wires::internetChecksum;
using wires::Mac;
using wires::text;
using wires::wordAt;

inline constexpr std::size_t ethernet = 14; ///< bytes of its header

/// What frames of one flow have in common: nobody may change their order. Addresses, tags and protocols, and
/// ports where there are any.
[[nodiscard]] std::string flowOf(const Frame& frame);

} // namespace tna::diff
