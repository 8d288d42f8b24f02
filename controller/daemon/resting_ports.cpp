// SPDX-License-Identifier: Apache-2.0
#include "daemon/resting_ports.hpp"

#include <algorithm>
#include <spdlog/fmt/fmt.h>

namespace tna::daemon {

namespace {
using std::chrono::seconds;

/// Custom modules are there for other reasons than speed.
bool mayRest(const assemble::PortPlan& port) {
    return port.hook == assemble::Hook::tcx && port.accelerated() && port.profile->custom.empty();
}

/// Since counters are a port's own, they begin anew with another profile's program.
std::optional<std::uint64_t> since(std::uint64_t before, std::uint64_t now) {
    return now >= before ? std::optional{now - before} : std::nullopt;
}

assemble::Reason reasonOf(const assemble::PortPlan& port, std::uint64_t left, std::uint64_t forwarded,
                          seconds length) {
    return {
        "resting",
        fmt::format("of {} frames that came in by it within {} s, {} could be forwarded, so that looking at "
                    "them costs more than it gains; it is tried again every {} s",
                    left + forwarded, RestingPorts::span.count(), forwarded, length.count()),
        fmt::format("`tnactl resume {}` tries it now; no port rests with 'rest = false' under [ports] in the "
                    "configuration",
                    port.name)};
}
} // namespace

bool RestingPorts::follow(deploy::DataPath& dataPath, const assemble::Plan& plan, Time now) {
    const bool woken = wake(plan, now);
    const auto elapsed = now - countedAt_;
    if (elapsed < span)
        return woken;
    countedAt_ = now;
    const auto before = std::exchange(before_, {});
    const auto most = many * static_cast<std::uint64_t>(std::chrono::duration_cast<seconds>(elapsed).count());
    std::map<model::IfIndex, std::uint64_t> inVain; ///< by the busy ones
    for (const auto& [ifindex, left] : dataPath.leftToLinux()) {
        const auto port = plan.ports.find(ifindex);
        if (port == plan.ports.end() || !mayRest(port->second))
            continue;
        before_[ifindex].left = left;
        const auto last = before.find(ifindex);
        if (const auto more = last != before.end() ? since(last->second.left, left) : std::nullopt;
            more >= most)
            inVain[ifindex] = *more;
    }
    if (inVain.empty())
        return woken;
    bool resting = false;
    const auto counters = dataPath.counters();
    for (const auto& [ifindex, left] : inVain) {
        const auto counted = counters.find(ifindex);
        if (counted == counters.end())
            continue;
        before_[ifindex].forwarded = counted->second.inPackets;
        const auto& last = before.at(ifindex).forwarded;
        const auto forwarded = last ? since(*last, counted->second.inPackets) : std::nullopt;
        if (!forwarded || *forwarded * worth >= left)
            continue;
        rest(plan.ports.at(ifindex), left, *forwarded, now);
        before_.erase(ifindex);
        resting = true;
    }
    return woken || resting;
}

void RestingPorts::rest(const assemble::PortPlan& port, std::uint64_t left, std::uint64_t forwarded,
                        Time now) {
    const auto last = rests_.find(port.ifindex);
    // As it was the last time, if it is for the same reason still: two spans are counted for it.
    const bool again = last != rests_.end() && now - last->second.until < 4 * span;
    const auto length = again ? std::min(2 * last->second.length, longest) : shortest;
    rests_[port.ifindex] = {length, now + length, reasonOf(port, left, forwarded, length), false};
}

bool RestingPorts::wake(const assemble::Plan& plan, Time now) {
    std::erase_if(rests_, [&](const auto& item) { return !plan.ports.contains(item.first); });
    bool any = false;
    for (auto& [ifindex, rest] : rests_)
        if (!rest.over && now >= rest.until)
            any = rest.over = true;
    return any;
}

void RestingPorts::forget() {
    rests_.clear();
    before_.clear();
}

std::map<model::IfIndex, assemble::Reason> RestingPorts::reasons() const {
    std::map<model::IfIndex, assemble::Reason> all;
    for (const auto& [ifindex, rest] : rests_)
        if (!rest.over)
            all.emplace(ifindex, rest.reason);
    return all;
}

} // namespace tna::daemon
