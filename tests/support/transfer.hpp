// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/namespace.hpp"

#include <functional>
#include <string>

namespace tna::test {

/// A connection of TCP between two namespaces, to an address of the server's: one end after the
/// other sends megabytes, and each must get what the other sent. Before that, they send a byte each until
/// somebody is ready. Clients may know the server by an address of their own.
void transferBothWays(const Namespace& clients, const Namespace& servers, const std::string& ip,
                      const std::function<bool()>& ready = nullptr, const std::string& knownAs = {});

} // namespace tna::test
