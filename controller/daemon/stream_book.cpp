// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream_book.hpp"

#include <algorithm>
#include <utility>

namespace tna::daemon {

namespace {
using introspect::ConnectionChange;
using introspect::TcpTimeouts;

constexpr std::chrono::seconds quiet{1};      ///< so long nothing comes, and a connection is idle
constexpr std::int64_t worthShortening = 120; ///< seconds, see nf_tcp_handle_invalid()

/// How long a connection lives on that both sides have given up, outside of the windows, so long after its
/// last packet.
std::int64_t livesOn(const tna_stream& known, std::int64_t lives, std::chrono::nanoseconds idle,
                     std::chrono::nanoseconds now, const TcpTimeouts& timeouts) {
    using std::chrono::duration_cast, std::chrono::seconds;
    const auto left = lives - duration_cast<seconds>(idle).count();
    if (known.given_up_at == 0 || known.given_up_after != known.used)
        return left;
    const auto since = duration_cast<seconds>(now - std::chrono::nanoseconds{known.given_up_at}).count();
    const auto leftThen = left + since;
    return leftThen < worthShortening ? left : std::min(left, std::int64_t{timeouts.unacknowledged} - since);
}

/// Whether data of this side has not been acknowledged (IP_CT_TCP_FLAG_DATA_UNACKNOWLEDGED).
bool isUnacknowledged(const tna_stream_side& side) {
    return side.end != side.acked;
}

/// As nf_conntrack_tcp_packet() would have left it behind the last packet.
ConnectionChange settled(const deploy::Stream& stream, std::chrono::nanoseconds idle,
                         std::chrono::nanoseconds now, const TcpTimeouts& timeouts) {
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
    // How long after a reset that does not end it, kernels do not agree: what Linux has said itself counts,
    // if it has not been given more time by something else.
    change.shortens = known.last_other == TNA_LAST_RESET;
    if (change.shortens)
        lives = std::min(lives, std::max(timeouts.closed, timeouts.unacknowledged));
    if (known.reset != 0) {
        change.closed = true;
        lives = timeouts.closed;
    }
    change.timeout =
        static_cast<std::uint32_t>(std::max<std::int64_t>(0, livesOn(known, lives, idle, now, timeouts)));
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
            still.emplace(life, Told{.used = known.used,
                                     .since = now,
                                     .disturbed = known.disturbed,
                                     .givenUpAt = known.given_up_at});
            changes.push_back({.of = known, .entry = entry, .liberal = true});
            continue;
        }
        auto told = before->second;
        if (told.used != known.used) {
            told.used = known.used;
            told.since = now;
            told.settled = false;
        }
        // Connection tracking has given it more time for what it would have called invalid; or would have
        // given it less.
        if (std::exchange(told.disturbed, known.disturbed) != known.disturbed ||
            std::exchange(told.givenUpAt, known.given_up_at) != known.given_up_at)
            told.settled = false;
        const bool reset = known.reset != 0 && !told.reset;
        if (reset || (!told.settled && !told.reset && now - told.since >= quiet)) {
            changes.push_back(settled(stream, now - told.since, now, timeouts));
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
            changes.push_back(settled(stream, {}, now, timeouts));
        else if (!told->second.settled || told->second.disturbed != known.disturbed ||
                 told->second.givenUpAt != known.given_up_at)
            changes.push_back(settled(stream, now - told->second.since, now, timeouts));
    }
    return changes;
}

} // namespace tna::daemon
