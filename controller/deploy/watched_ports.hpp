// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"

#include <map>
#include <tna/fastpath.h>

namespace tna::deploy {

/// The watched pipeline's table of ports.
class WatchedPorts {
public:
    explicit WatchedPorts(int map) : map_(map) {}

    /// Takes effect with the next frame; nothing is done for a port that is as wanted already.
    [[nodiscard]] Result<void> set(model::IfIndex ifindex, unsigned slot, const assemble::WatchedPort& port,
                                   bool hasProgram);
    void remove(model::IfIndex ifindex);
    /// Changes since the start.
    [[nodiscard]] unsigned changes() const { return changes_; }

private:
    int map_;
    unsigned changes_ = 0;
    std::map<model::IfIndex, tna_watched_port> placed_;
};

} // namespace tna::deploy
