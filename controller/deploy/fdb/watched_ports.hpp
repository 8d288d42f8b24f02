// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"

#include <map>
#include <memory>
#include <set>
#include <tna/fastpath.h>

namespace tna::deploy {

/// The watched pipeline's tables of ports and of their VLANs.
class WatchedPorts {
public:
    [[nodiscard]] static Result<WatchedPorts> open(int portsMap, int vlansMap, unsigned capacity);

    /// Takes away what a port is not to let through any more, and of its VLANs. To be called for all ports
    /// before set() is for any: so there is no moment at which one is open already (or has part in a VLAN)
    /// and another one still is, though they never were at the same time.
    void take(model::IfIndex ifindex, const assemble::WatchedPort& port);
    /// Takes effect with the next frame; nothing is done for a port that is as wanted already.
    [[nodiscard]] Result<void> set(model::IfIndex ifindex, unsigned slot, const assemble::WatchedPort& port,
                                   bool hasProgram);
    void remove(model::IfIndex ifindex);
    /// Whether it says nothing that is wrong: the kernel has taken out all that was to go. Else that is tried
    /// again with the next call for the port, or by retry().
    [[nodiscard]] bool sound() const { return stuck_.empty(); }
    void retry();
    /// Changes since the start.
    [[nodiscard]] unsigned changes() const { return changes_; }

private:
    struct Unmap {
        std::size_t size;
        void operator()(tna_watched_vlans* memory) const;
    };
    using Vlans = std::unique_ptr<tna_watched_vlans[], Unmap>;
    WatchedPorts(int map, Vlans vlans) : map_(map), vlans_(std::move(vlans)) {}
    [[nodiscard]] Result<void> place(model::IfIndex ifindex, const tna_watched_port& value);
    void writeVlans(unsigned slot, const assemble::VlanParts& wanted);

    int map_;
    Vlans vlans_; ///< by slot
    unsigned changes_ = 0;
    std::map<model::IfIndex, tna_watched_port> placed_;
    std::set<model::IfIndex> stuck_; ///< still in the map, but to go
};

} // namespace tna::deploy
