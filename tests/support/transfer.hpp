// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "support/namespace.hpp"

#include <functional>
#include <string>

namespace tna::test {

/// A connection of TCP between two namespaces, to an address of the server's: one end after the
/// other sends megabytes, and each must get what the other sent. Before that, they send a byte each until
/// somebody is ready. Clients may know the server by an address of their own.
void transferBothWays(const Namespace& clients, const Namespace& servers, const std::string& ip,
                      const std::function<bool()>& ready = nullptr, const std::string& knownAs = {});

/// A connection to whoever listens there, at the port that all of this uses; none if nobody does.
[[nodiscard]] UniqueFd connectTo(const Namespace& clients, const std::string& ip);
/// The next connection to this address of a server's; none within a minute.
[[nodiscard]] UniqueFd acceptAt(const Namespace& servers, const std::string& ip);
/// Whoever is at the other end sends back what comes: some bytes, one by one, until somebody is ready, then
/// megabytes.
void transferToEcho(const UniqueFd& connection, const std::function<bool()>& ready);

} // namespace tna::test
