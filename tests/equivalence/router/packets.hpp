// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "step.hpp"

namespace tna::test {

/// A grammar of packets for a RouterWorld: most are as they should be, from a host to another one that is
/// known; others have wrong values in any field, are cut, padded, fragments, have options and extension
/// headers, or addresses that nobody should use.
[[nodiscard]] Send randomPacket(Chance& chance);

/// Where packets of a version (4, 6) go that no port's network has.
[[nodiscard]] std::string farDestination(Chance& chance, int version);

} // namespace tna::test
