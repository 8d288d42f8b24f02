// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/tracker.hpp"
#include "netlink/socket.hpp"

#include <map>
#include <vector>

namespace tna::introspect {

/// Counts the entries of all bridges, port by port and a few milliseconds at a time: a dump of all of them
/// goes through the whole table of a bridge once for each of its ports, in one system call and with the RTNL
/// held (rtnl_fdb_dump), which is seconds with 500 ports and 100,000 entries.
class FdbCount {
public:
    FdbCount(netlink::Socket& requests, Tracker& tracker) : requests_(requests), tracker_(tracker) {}

    /// True once all are counted and in the model; the call after that starts over.
    [[nodiscard]] Result<bool> step();

private:
    [[nodiscard]] Result<void> count(model::IfIndex port);

    netlink::Socket& requests_;
    Tracker& tracker_;
    std::vector<model::IfIndex> left_;
    std::map<model::IfIndex, model::FdbSummary> found_;
};

[[nodiscard]] Result<bool> countNeighbours(netlink::Socket& requests, Tracker& tracker);
[[nodiscard]] Result<bool> countRoutes(netlink::Socket& requests, Tracker& tracker);

} // namespace tna::introspect
