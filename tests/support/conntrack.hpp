// SPDX-License-Identifier: Apache-2.0
// Connection tracking's entries in the network namespace of the calling thread, over netlink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tna::test {

/// A connection as its first packet had it. Replies come the other way, but for what is
/// translated.
struct Connection {
    std::string from = "10.0.0.2";
    std::uint16_t fromPort = 4000;
    std::string to = "10.0.1.2";
    std::uint16_t toPort = 5000;
    std::uint8_t protocol = 17; ///< IPPROTO_UDP
};

/// What can be said of an entry when it is made.
struct EntryWords {
    std::uint32_t timeout = 1000000; ///< seconds
    std::uint16_t zone = 0;
    std::string helper;
    /// Other ends, if any, which Linux puts in; replies come the other way round.
    std::string source;
    std::uint16_t sourcePort = 0;
    std::string destination;
    std::uint16_t destinationPort = 0;
};

/// 0, or errno.
[[nodiscard]] int addConnection(const Connection& connection, const EntryWords& words = {});
[[nodiscard]] int removeConnection(const Connection& connection);
[[nodiscard]] int markConnection(const Connection& connection, std::uint32_t mark);
/// Seconds that are left; nothing: there is no such connection.
[[nodiscard]] std::optional<std::uint32_t> timeoutOf(const Connection& connection);
/// Whether packets have come both ways for a while.
[[nodiscard]] bool isAssured(const Connection& connection);
/// Whether Linux has been told not to mind the windows of a connection of TCP.
[[nodiscard]] bool isLiberal(const Connection& connection);

} // namespace tna::test
