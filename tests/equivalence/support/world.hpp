// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fence.hpp"
#include "support/namespace.hpp"
#include "support/packet_port.hpp"

#include <map>
#include <vector>

namespace tna::test {

/// What came out, port by port.
using Arrivals = std::map<unsigned, std::vector<Frame>>;

/// A namespace with four ports, and their far ends in another one. All worlds are made alike, to the last
/// address.
class World {
public:
    static constexpr unsigned ports = 4;

    /// The namespace that the ports live in.
    [[nodiscard]] const Namespace& home() const { return home_; }
    /// Runs a command there; its exit code and output are part of what is compared.
    [[nodiscard]] std::string run(const std::string& words) const;
    /// 0, or why the port did not take the frame (it may be larger than the port's MTU).
    [[nodiscard]] int send(unsigned port, const Frame& frame) const { return far_.at(port)->trySend(frame); }
    /// What has arrived since the last time.
    [[nodiscard]] Arrivals arrivals() const;

protected:
    World();

private:
    Namespace home_;
    Namespace farSide_;
    std::map<unsigned, std::optional<PacketPort>> far_;
};

} // namespace tna::test
