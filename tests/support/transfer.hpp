// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/namespace.hpp"

#include <chrono>
#include <string>

namespace tna::test {

/// A connection of TCP between two namespaces, to an address of the server's: both ends send megabytes all
/// the time, and each must get what the other sent. Before that, there may be one byte from each, and a
/// pause.
void transferBothWays(const Namespace& clients, const Namespace& servers, const std::string& ip,
                      std::chrono::milliseconds before = {});

} // namespace tna::test
