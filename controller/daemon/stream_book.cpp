// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream_book.hpp"

#include <algorithm>
#include <utility>

namespace tna::daemon {

namespace {
using introspect::ConnectionChange;
using introspect::TcpTimeouts;

constexpr std::chrono::seconds quiet{1}; ///< so long nothing comes, and a connection is idle

/// Whether data of this side has not been acknowledged (IP_CT_TCP_FLAG_DATA_UNACKNOWLEDGED).
bool isUnacknowledged(const tna_stream_side& side) {
    return side.end != side.acked;
}

/// As nf_conntrack_tcp_packet() would have left it behind the last packet.
ConnectionChange settled(const deploy::Stream& stream, std::chrono::nanoseconds idle,
                         const TcpTimeouts& timeouts) {
    const auto& known = stream.known;
    ConnectionChange change{.of = known, .entry = stream.entry, .liberal = true};
    // Of one that was fast before, and not followed for a while, nobody knows.
    const bool unknown = known.judged == 0 && known.lost == 0;
    change.unacknowledged = {!unknown && isUnacknowledged(known.sides[0]),
                             !unknown && isUnacknowledged(known.sides[1])};
    auto lives = timeouts.established;
    if (change.unacknowledged->at(0) || change.unacknowledged->at(1))
        lives = std::min(lives, timeouts.unacknowledged);
    else if (known.shut != 0)
        lives = std::min(lives, timeouts.retransmitted);
    if (known.last_other == TNA_LAST_RESET)
        lives = std::min(lives, timeouts.closed);
    if (known.reset != 0) {
        change.closed = true;
        lives = timeouts.closed;
    }
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(idle).count();
    change.timeout = static_cast<std::uint32_t>(std::max<std::int64_t>(1, std::int64_t{lives} - passed));
    return change;
}
} // namespace

std::vector<ConnectionChange> StreamBook::next(const std::vector<deploy::Stream>& streams,
                                               std::chrono::nanoseconds now, const TcpTimeouts& timeouts) {
    std::vector<ConnectionChange> changes;
    std::map<Life, Told> still;
    for (const auto& stream : streams) {
        const auto& [entry, known] = stream;
        const Life life{entry, known.born};
        const auto before = told_.find(life);
        if (before == told_.end()) {
            still.emplace(life, Told{known.used, now});
            changes.push_back({.of = known, .entry = entry, .liberal = true});
            continue;
        }
        auto told = before->second;
        if (told.used != known.used)
            told = {.used = known.used, .since = now, .settled = false, .reset = told.reset};
        const bool reset = known.reset != 0 && !told.reset;
        if (reset || (!told.settled && !told.reset && now - told.since >= quiet)) {
            changes.push_back(settled(stream, now - told.since, timeouts));
            told.settled = true;
            told.reset = known.reset != 0;
        }
        still.emplace(life, told);
    }
    told_ = std::move(still);
    return changes;
}

std::vector<ConnectionChange> StreamBook::last(const std::vector<deploy::Stream>& streams,
                                               std::chrono::nanoseconds now,
                                               const TcpTimeouts& timeouts) const {
    std::vector<ConnectionChange> changes;
    for (const auto& stream : streams) {
        const auto& [entry, known] = stream;
        const auto told = told_.find({entry, known.born});
        const bool reset = known.reset != 0; // where nobody minds windows, packets may be fast before that
        if (told == told_.end() ? !reset : told->second.reset)
            continue;
        if (reset || told->second.used != known.used)
            changes.push_back(settled(stream, {}, timeouts));
        else if (!told->second.settled)
            changes.push_back(settled(stream, now - told->second.since, timeouts));
    }
    return changes;
}

} // namespace tna::daemon
