// SPDX-License-Identifier: Apache-2.0
#include "introspect/counted_table.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace tna::introspect {

namespace {

// Dumps take a five-hundredth of the time at most: 0.2% of a core, and a 100,000-entry table of 50 ms is
// counted again every 25 s under steady change.
constexpr int restPerCost = 500;
// Between the slices of one round: a table of ordinary size is counted soon, one that turns out to be
// expensive at leisure (each port costs a walk through the whole table of its bridge).
constexpr int restPerSlice = 4;
constexpr auto ordinaryCost = std::chrono::milliseconds(100);
constexpr auto shortestRest = std::chrono::milliseconds(50);

Result<void> control(int poll, int operation, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(poll, operation, fd, &event) < 0)
        return failErrno(errno, "cannot watch a netlink socket");
    return {};
}

} // namespace

CountedTable::CountedTable(int poll, netlink::Socket events, UniqueFd timer, Filter concerns, Read read)
    : poll_(poll), events_(std::move(events)), timer_(std::move(timer)), concerns_(std::move(concerns)),
      read_(std::move(read)) {}

Result<std::unique_ptr<CountedTable>> CountedTable::open(int poll, const std::vector<unsigned>& groups,
                                                         Filter concerns, Read read) {
    auto events = netlink::Socket::open(NETLINK_ROUTE);
    if (!events)
        return std::unexpected(events.error());
    if (auto joined = events->join(groups); !joined)
        return std::unexpected(joined.error());
    UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!timer)
        return failErrno(errno, "cannot make a timer");
    if (auto watched = control(poll, EPOLL_CTL_ADD, timer.get()); !watched)
        return std::unexpected(watched.error());
    std::unique_ptr<CountedTable> table(
        new CountedTable(poll, std::move(*events), std::move(timer), std::move(concerns), std::move(read)));
    if (auto watched = control(poll, EPOLL_CTL_ADD, table->events_.fd()); !watched)
        return std::unexpected(watched.error());
    return table;
}

Result<void> CountedTable::mute(Clock::duration rest) {
    due_ = Clock::now() + rest;
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(rest).count();
    itimerspec when{};
    when.it_value.tv_sec = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
    if (timerfd_settime(timer_.get(), 0, &when, nullptr) < 0)
        return failErrno(errno, "cannot set a timer");
    if (!muted_)
        if (auto done = control(poll_, EPOLL_CTL_DEL, events_.fd()); !done)
            return done;
    muted_ = true;
    return {};
}

Result<void> CountedTable::unmute() {
    std::uint64_t expirations = 0;
    // Also when not muted: by the clock it can be due a moment before the timer fires. EAGAIN is fine.
    [[maybe_unused]] const auto size = ::read(timer_.get(), &expirations, sizeof expirations);
    if (!muted_)
        return {};
    muted_ = false;
    return control(poll_, EPOLL_CTL_ADD, events_.fd());
}

Result<void> CountedTable::process() {
    if (Clock::now() < due_)
        return {};
    if (auto done = unmute(); !done)
        return done;
    const auto drained =
        events_.drain([&](const netlink::Message& message) { stale_ = stale_ || concerns_(message); });
    stale_ |= drained.lost;
    if (stale_ || halfway_)
        return read();
    return drained.any ? mute(shortestRest) : Result<void>{};
}

Result<void> CountedTable::read() {
    // What is announced from here on may or may not be counted in this round: it asks for another.
    if (!halfway_) {
        stale_ = false;
        cost_ = {};
    }
    const auto start = Clock::now();
    const auto finished = read_();
    const auto took = Clock::now() - start;
    cost_ += took;
    halfway_ = finished && !*finished;
    if (!finished)
        return std::unexpected(finished.error());
    if (halfway_)
        return mute(took * (cost_ < ordinaryCost ? restPerSlice : restPerCost));
    return mute(std::max<Clock::duration>(shortestRest, cost_ * restPerCost));
}

} // namespace tna::introspect
