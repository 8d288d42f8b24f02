// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/decode_link.hpp"
#include "introspect/ethtool.hpp"
#include "introspect/tracker.hpp"
#include "netlink/socket.hpp"

#include <set>

namespace tna::introspect {

/// Keeps the links of the model: their own attributes, bridge and port options, and VLANs.
class Links {
public:
    Links(netlink::Socket& requests, Ethtool& ethtool, Tracker& tracker)
        : requests_(requests), ethtool_(ethtool), tracker_(tracker) {}

    /// Reads all of them.
    [[nodiscard]] Result<void> readAll();

    /// An announcement; false if it could not be decoded.
    [[nodiscard]] bool onLink(const netlink::Message& message);
    [[nodiscard]] bool onVlan(const netlink::Message& message);

    /// A link may be different without having been announced.
    void suspect(model::IfIndex ifindex) { stale_.insert(ifindex); }
    /// Asks again for what announcements only hinted at.
    [[nodiscard]] Result<void> settle();
    /// Whether a link has had another name since the last call.
    [[nodiscard]] bool takeRenamed();

private:
    void apply(const model::Link& decoded);
    void remove(model::IfIndex ifindex);
    void refreshPeers(const model::Link& link);
    [[nodiscard]] Result<void> read(model::IfIndex ifindex);
    /// The VLANs of one link, or of all with 0.
    [[nodiscard]] Result<void> readVlans(model::IfIndex ifindex);

    netlink::Socket& requests_;
    Ethtool& ethtool_;
    Tracker& tracker_;
    std::set<model::IfIndex> stale_;
    std::set<model::IfIndex> staleVlans_;
    bool renamed_ = false;
};

} // namespace tna::introspect
