// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/decode_tc.hpp"
#include "introspect/socket.hpp"
#include "introspect/tracker.hpp"

#include <map>
#include <set>

namespace tna::introspect {

/// Keeps queueing disciplines, and the number of filters of links with ingress or clsact.
class TrafficControl {
public:
    TrafficControl(NetlinkSocket& requests, Tracker& tracker) : requests_(requests), tracker_(tracker) {}

    [[nodiscard]] Result<void> readAll();

    void onQdisc() { stale_ = true; }
    [[nodiscard]] bool onFilter(const Message& message);

    [[nodiscard]] Result<void> settle();

private:
    [[nodiscard]] Result<void> readQdiscs();
    [[nodiscard]] Result<void> readFilters(model::IfIndex ifindex);
    [[nodiscard]] Result<std::uint32_t> countFilters(model::IfIndex ifindex, std::uint32_t parent);

    NetlinkSocket& requests_;
    Tracker& tracker_;
    std::map<model::IfIndex, bool> classified_; ///< links with ingress (false) or clsact (true)
    std::set<model::IfIndex> staleFilters_;
    bool stale_ = false;
};

} // namespace tna::introspect
