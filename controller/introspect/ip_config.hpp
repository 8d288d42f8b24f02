// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/decode_ip.hpp"
#include "introspect/tracker.hpp"
#include "netlink/socket.hpp"

#include <map>

namespace tna::introspect {

/// Keeps addresses, routing rules, and forwarding and rp_filter of each link.
class IpConfig {
public:
    IpConfig(netlink::Socket& requests, Tracker& tracker) : requests_(requests), tracker_(tracker) {}

    [[nodiscard]] Result<void> readAll();

    /// Announcements; false if they could not be decoded.
    [[nodiscard]] bool onAddress(const netlink::Message& message);
    [[nodiscard]] bool onNetconf(const netlink::Message& message);
    void onRule() { rulesStale_ = true; }

    [[nodiscard]] Result<void> settle();

private:
    void apply(const AddressMessage& decoded);
    void apply(const NetconfMessage& decoded);
    void applyWaiting();
    [[nodiscard]] Result<void> readRules();
    [[nodiscard]] Result<void> readAddresses();
    [[nodiscard]] Result<void> readNetconf(unsigned char family);

    netlink::Socket& requests_;
    Tracker& tracker_;
    /// The settings of a link are announced before the link itself (inetdev_init runs in NETDEV_REGISTER).
    std::multimap<model::IfIndex, NetconfMessage> waiting_;
    bool rulesStale_ = false;
};

} // namespace tna::introspect
