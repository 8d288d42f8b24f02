// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/station_book.hpp"
#include "netlink/socket.hpp"

#include <functional>
#include <vector>

namespace tna::introspect {

/// All stations of all bridges of a network namespace, followed one by one; for those who cannot read the
/// kernel's own table. Not thread safe.
/// What is doubtful (StationBook says why) is asked for.
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
    /// Compares all with what Linux has, with the next calls of process().
    void suspect() { suspected_ = true; }
    /// Asks Linux for those that are doubtful; some wait for the next call where there are many.
    [[nodiscard]] Result<void> confirm();
    /// What came, changed or went since the last call. Those that are doubtful are nowhere.
    [[nodiscard]] std::vector<model::StationChange> take() { return book_.take(); }
    /// Whether nothing is missing, and nothing that was announced waits.
    [[nodiscard]] bool complete() const { return complete_ && !behind_; }
    [[nodiscard]] std::size_t size() const { return book_.size(); }
    [[nodiscard]] Stats stats() const { return stats_; }

private:
    Stations(netlink::Socket requests, netlink::Socket events, netlink::Socket comparing)
        : requests_(std::move(requests)), events_(std::move(events)), comparing_(std::move(comparing)) {}
    [[nodiscard]] Result<void> ask(const model::StationKey& key);
    /// Whether a station was removed.
    bool drain();
    [[nodiscard]] Result<void> readAll();
    [[nodiscard]] Result<void> compare();
    [[nodiscard]] std::unexpected<Error> breakOff(int error);

    netlink::Socket requests_;
    netlink::Socket events_;
    netlink::Socket comparing_;
    StationBook book_;
    Stats stats_;
    bool complete_ = false;
    bool behind_ = false; ///< announcements wait still
    bool suspected_ = false;
};

} // namespace tna::introspect
