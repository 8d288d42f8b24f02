// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "support/frame.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tna::test {

/// Sends and receives whole frames on an interface of the calling thread's namespace. Sees frames that
/// arrive, not those it sends. Belongs on the far end of a veth: a packet socket on a bridge port is
/// itself a reason for the slow path.
class PacketPort {
public:
    explicit PacketPort(const std::string& interface);

    void send(const Frame& frame) const;
    /// As a local sender with checksum offload: the checksum at `start` + `offset` is left to finish.
    void sendUnfinished(const Frame& frame, std::uint16_t start, std::uint16_t offset) const;
    /// The next frame that arrives, VLAN tag put back in.
    [[nodiscard]] std::optional<Frame>
    receive(std::chrono::milliseconds patience = std::chrono::seconds(20)) const;
    /// What has arrived already.
    [[nodiscard]] std::vector<Frame> drain() const;

private:
    UniqueFd fd_;
    UniqueFd offloading_;
};

} // namespace tna::test
