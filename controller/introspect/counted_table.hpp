// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "netlink/socket.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace tna::introspect {

/// A table with so many entries that only their number is kept, without remembering any of them: counting
/// announcements would drift (IPv4 routes that go along with their link are not announced). It is dumped
/// after announcements instead, at intervals that grow with what a dump takes; in between, its socket is not
/// looked at, and may overflow without harm.
class CountedTable {
public:
    using Clock = std::chrono::steady_clock;
    using Filter = std::function<bool(const netlink::Message&)>;
    /// Counts; false if it stopped half-way, to be called again soon, so that nobody waits for it.
    using Read = std::function<Result<bool>()>;

    /// In the calling thread's network namespace. `concerns` tells the announcements that matter.
    [[nodiscard]] static Result<std::unique_ptr<CountedTable>>
    open(int poll, const std::vector<unsigned>& groups, Filter concerns, Read read);

    /// To be called whenever `poll` was readable; dumps if that is due.
    [[nodiscard]] Result<void> process();
    /// The table may be different, without an announcement of its own.
    void suspect() { stale_ = true; }

private:
    CountedTable(int poll, netlink::Socket events, UniqueFd timer, Filter concerns, Read read);
    [[nodiscard]] Result<void> read();
    [[nodiscard]] Result<void> mute(Clock::duration rest);
    [[nodiscard]] Result<void> unmute();

    int poll_;
    netlink::Socket events_;
    UniqueFd timer_;
    Filter concerns_;
    Read read_;
    Clock::time_point due_;
    Clock::duration cost_{};
    bool stale_ = true; ///< it is counted for the first time by the first process()
    bool halfway_ = false;
    bool muted_ = false;
};

} // namespace tna::introspect
