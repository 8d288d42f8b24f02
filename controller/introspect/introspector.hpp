// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/device_info.hpp"
#include "introspect/netlink_socket.hpp"
#include "model/network.hpp"

#include <memory>

namespace tna::introspect {

struct Changes {
    bool any = false;
    bool resynced = false;
};

struct Stats {
    std::uint64_t events = 0;
    std::uint64_t resyncs = 0;
};

/// Keeps a model of the network namespace it was opened in.
class Introspector {
public:
    /// Reads everything once. `receiveBuffer` in bytes: small ones are for tests of overruns.
    [[nodiscard]] static Result<std::unique_ptr<Introspector>> open(int receiveBuffer = 8 * 1024 * 1024);

    [[nodiscard]] const model::Network& network() const { return network_; }
    [[nodiscard]] int fd() const { return events_.fd(); }
    [[nodiscard]] const Stats& stats() const { return stats_; }

    /// Takes in what has been notified; reads everything anew if notifications were lost.
    [[nodiscard]] Result<Changes> process();
    [[nodiscard]] Result<void> resync();
    /// Settings have no notifications.
    [[nodiscard]] bool refreshSysctls();
    /// What is many and changes all the time (stations, routes, neighbours) is counted on demand.
    [[nodiscard]] Result<void> refreshSummaries();

private:
    Introspector(NetlinkSocket events, NetlinkSocket queries, DeviceInfoReader devices)
        : events_(std::move(events)), queries_(std::move(queries)), devices_(std::move(devices)) {}
    void handle(const Message& message);
    void takeLink(const Message& message);
    void dropLink(const Message& message);
    void takeVlans(const Message& message);
    void takeAddress(const Message& message);
    [[nodiscard]] Result<void> dumpLinks();
    [[nodiscard]] Result<void> dumpQdiscs();
    [[nodiscard]] Result<void> dumpStations();
    [[nodiscard]] Result<void> dumpRoutes();

    NetlinkSocket events_;
    NetlinkSocket queries_;
    DeviceInfoReader devices_;
    model::Network network_;
    Stats stats_;
    bool qdiscsChanged_ = false;
    bool vlansChanged_ = false;
};

} // namespace tna::introspect
