// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/net_namespace.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace tna::bench {

/// Programs that talk by sockets, in two network namespaces: where they are, and the server's address of
/// IPv4.
struct Talkers {
    const NetNamespace& client;
    const NetNamespace& server;
    std::string address;
};

/// One connection of TCP: questions of so many bytes, each answered by as many, per second.
[[nodiscard]] Result<double> requestsPerSecond(const Talkers& talkers, std::size_t bytes,
                                               std::chrono::duration<double> time);
/// One connection of TCP in one direction: bits per second that arrived.
[[nodiscard]] Result<double> bitsPerSecond(const Talkers& talkers, std::chrono::duration<double> time);
/// UDP with so many bytes: datagrams per second that arrived. Before, both ends talk for a while.
[[nodiscard]] Result<double> datagramsPerSecond(const Talkers& talkers, std::size_t bytes,
                                                std::chrono::duration<double> time,
                                                std::chrono::duration<double> before);

} // namespace tna::bench
