// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <tna/connection.h>

namespace tna::introspect {

/// What is to be different about the entry of a connection of TCP.
struct ConnectionChange {
    tna_stream of{};         ///< whose ends say which one
    std::uint64_t entry = 0; ///< as the fast path knows it
    bool liberal = false;    ///< it is not to mind windows; it may be told so for the first time or not
    std::optional<std::array<bool, 2>> unacknowledged{}; ///< data of each side, by direction
    bool closed = false;
    std::optional<std::uint32_t> timeout{}; ///< seconds from now on
    bool shortens = false;                  ///< it is not to live longer by that
};

/// In the calling thread's network namespace. That there is no such connection (any more) is no error. Times
/// are changed of established connections only: when another one ends, Linux knows best.
[[nodiscard]] Result<void> changeConnection(const ConnectionChange& change);

/// Times that connections of TCP live without packets, in seconds, as the namespace has them.
struct TcpTimeouts {
    std::uint32_t established = 432000;
    std::uint32_t unacknowledged = 300;
    std::uint32_t retransmitted = 300;
    std::uint32_t closed = 10;
};
[[nodiscard]] TcpTimeouts readTcpTimeouts();

} // namespace tna::introspect
