// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/namespace.hpp"

#include <cstdint>
#include <string>

namespace tna::test {

/// Sends as much as it can for some seconds, by a socket of that type, to an address that a namespace has and
/// that is known by another one; how much arrives in a second, in bytes (TCP) or packets of 18 bytes (UDP).
[[nodiscard]] double arriving(const Namespace& from, const Namespace& to, const std::string& ip,
                              const std::string& knownAs, int type);
constexpr std::uint16_t arrivingPort = 4001;

} // namespace tna::test
