// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <libmnl/libmnl.h>
#include <memory>
#include <vector>

namespace tna::bench {

/// Configures the network namespace it was opened in, without a process for each change.
class Netlink {
public:
    [[nodiscard]] static Result<Netlink> open();

    /// Whether a bridge port learns; done when it returns.
    [[nodiscard]] Result<void> setLearning(unsigned ifindex, bool on);
    /// Whether a bridge port forwards nothing to other such ports; done when it returns.
    [[nodiscard]] Result<void> setIsolated(unsigned ifindex, bool on);
    /// The first flow's station is on this port from now on.
    [[nodiscard]] Result<void> moveStation(unsigned ifindex);
    /// Adds `count` learned stations to the forwarding database, on these ports in turn.
    [[nodiscard]] Result<void> addStations(const std::vector<unsigned>& ports, unsigned count);

private:
    struct Close {
        void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
    };
    using Socket = std::unique_ptr<mnl_socket, Close>;
    explicit Netlink(Socket socket) : socket_(std::move(socket)) {}
    [[nodiscard]] Result<void> setPort(unsigned ifindex, std::uint16_t setting, bool on);
    [[nodiscard]] Result<void> send(const void* messages, std::size_t size);
    Socket socket_;
    unsigned sequence_ = 0;
};

} // namespace tna::bench
