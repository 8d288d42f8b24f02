// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/decode_tc.hpp"
#include "introspect/tracker.hpp"
#include "netlink/socket.hpp"

#include <map>
#include <set>

namespace tna::introspect {

/// Keeps queueing disciplines with their settings, and the number of filters of links and disciplines.
class TrafficControl {
public:
    TrafficControl(netlink::Socket& requests, Tracker& tracker) : requests_(requests), tracker_(tracker) {}

    [[nodiscard]] Result<void> readAll();

    void onQdisc() { stale_ = true; }
    [[nodiscard]] bool onQdisc(const netlink::Message& message);
    [[nodiscard]] bool onFilter(const netlink::Message& message);

    [[nodiscard]] Result<void> settle();

private:
    [[nodiscard]] Result<void> readQdiscs();
    void takeQueues(const std::vector<model::Qdisc>& found);
    [[nodiscard]] Result<void> readFilters(model::IfIndex ifindex);
    [[nodiscard]] Result<std::uint32_t> countFilters(model::IfIndex ifindex, std::uint32_t parent);

    netlink::Socket& requests_;
    Tracker& tracker_;
    /// Where a link may have filters: links with ingress (false) or clsact (true), and the handles of
    /// disciplines with filters of their own.
    std::map<model::IfIndex, bool> classified_;
    std::map<model::IfIndex, std::set<std::uint32_t>> filtering_;
    std::set<model::IfIndex> staleFilters_;
    bool stale_ = false;
};

} // namespace tna::introspect
