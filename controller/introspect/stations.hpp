// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/station.hpp"
#include "netlink/socket.hpp"

#include <unordered_map>
#include <unordered_set>

namespace tna::introspect {

/// All stations of all bridges of a network namespace, followed one by one; for those who cannot read the
/// kernel's own table. Not thread safe.
class Stations {
public:
    struct Stats {
        std::uint64_t events = 0;
        std::uint64_t readings = 0; ///< times that everything was read
    };

    /// In the calling thread's network namespace. The receive buffer holds what the kernel announces while
    /// nobody reads; when it overflows, everything is read again.
    [[nodiscard]] static Result<Stations> open(std::size_t receiveBuffer = std::size_t{16} * 1024 * 1024);

    /// To be watched for readability.
    [[nodiscard]] int fd() const { return events_.fd(); }
    /// Takes in what was announced. Calls `incomplete` as soon as it is known that announcements were lost,
    /// before it reads everything again, or that more wait than one call takes.
    [[nodiscard]] Result<void> process(const std::function<void()>& incomplete);
    /// What came, changed or went since the last call.
    [[nodiscard]] std::vector<model::StationChange> take();
    /// Whether nothing is missing, and nothing that was announced waits.
    [[nodiscard]] bool complete() const { return complete_ && !behind_; }
    [[nodiscard]] std::size_t size() const { return stations_.size(); }
    [[nodiscard]] Stats stats() const { return stats_; }

private:
    using Keys = std::unordered_set<model::StationKey, model::StationHash>;
    Stations(netlink::Socket requests, netlink::Socket events)
        : requests_(std::move(requests)), events_(std::move(events)) {}
    void apply(const model::StationChange& change);
    /// Whether a station was removed.
    bool drain();
    [[nodiscard]] Result<void> readAll();

    netlink::Socket requests_;
    netlink::Socket events_;
    std::unordered_map<model::StationKey, model::Station, model::StationHash> stations_;
    Keys changed_;
    Stats stats_;
    bool complete_ = false;
    bool behind_ = false; ///< announcements wait still
};

} // namespace tna::introspect
