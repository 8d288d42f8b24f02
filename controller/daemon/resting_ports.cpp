// SPDX-License-Identifier: Apache-2.0
#include "daemon/resting_ports.hpp"

#include <algorithm>
#include <spdlog/fmt/fmt.h>

namespace tna::daemon {

namespace {
using std::chrono::seconds;
using PortCounters = std::map<model::IfIndex, deploy::PortCounters>;

/// Custom modules are there for other reasons than speed.
bool mayRest(const assemble::PortPlan& port) {
    return port.hook == assemble::Hook::tcx && port.accelerated() && port.profile->custom.empty();
}

/// Since counters are a port's own, they begin anew with another profile's program.
std::optional<std::uint64_t> since(std::uint64_t before, std::uint64_t now) {
    return now >= before ? std::optional{now - before} : std::nullopt;
}

std::string whyOf(std::uint64_t left, std::uint64_t forwarded, seconds elapsed, seconds length) {
    return fmt::format(
        "of {} frames that came in by it within {} s, {} could be forwarded, so that looking at "
        "them costs more than it gains; it is tried again after {} s",
        left + forwarded, elapsed.count(), forwarded, length.count());
}

assemble::Reason reasonOf(const std::string& name, const std::string& why) {
    return {"resting", why,
            fmt::format("`tnactl resume {}` tries it now; no port rests with 'rest = false' under [ports] in "
                        "the configuration",
                        name)};
}
} // namespace

bool RestingPorts::follow(deploy::DataPath& dataPath, const assemble::Plan& plan, Time now) {
    const bool woken = wake(plan, now);
    const auto elapsed = std::chrono::duration_cast<seconds>(now - countedAt_);
    if (elapsed < span)
        return woken;
    countedAt_ = now;
    const auto before = std::exchange(before_, {});
    bool resting = false;
    const auto inVain = lookAtInVain(dataPath, plan, before, elapsed);
    for (const auto& [ifindex, counted] : inVain.empty() ? PortCounters{} : dataPath.counters()) {
        const auto left = inVain.find(ifindex);
        if (left == inVain.end())
            continue;
        before_[ifindex].forwarded = counted.inPackets;
        const auto& last = before.at(ifindex).forwarded;
        const auto forwarded = last ? since(*last, counted.inPackets) : std::nullopt;
        if (!forwarded || *forwarded * worth >= left->second)
            continue;
        const auto length = lengthOfNext(ifindex, now);
        rests_[ifindex] = {length, now + length, whyOf(left->second, *forwarded, elapsed, length), false};
        before_.erase(ifindex);
        resting = true;
    }
    return woken || resting;
}

/// Frames that have been left to Linux since, of ports with many.
std::map<model::IfIndex, std::uint64_t> RestingPorts::lookAtInVain(const deploy::DataPath& dataPath,
                                                                   const assemble::Plan& plan,
                                                                   const Counts& before, seconds elapsed) {
    const auto least = many * static_cast<std::uint64_t>(elapsed.count());
    std::map<model::IfIndex, std::uint64_t> inVain;
    for (const auto& [ifindex, left] : dataPath.leftToLinux()) {
        const auto port = plan.ports.find(ifindex);
        if (port == plan.ports.end() || !mayRest(port->second))
            continue;
        before_[ifindex].left = left;
        const auto last = before.find(ifindex);
        if (const auto more = last != before.end() ? since(last->second.left, left) : std::nullopt;
            more >= least)
            inVain[ifindex] = *more;
    }
    return inVain;
}

/// Longer than the last time, if it is for the same reason still: two spans are counted for it.
seconds RestingPorts::lengthOfNext(model::IfIndex ifindex, Time now) const {
    const auto last = rests_.find(ifindex);
    const bool again = last != rests_.end() && now - last->second.until < 4 * span;
    return again ? std::min(2 * last->second.length, longest) : shortest;
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

std::map<model::IfIndex, assemble::Reason> RestingPorts::reasons(const model::Network& network) const {
    std::map<model::IfIndex, assemble::Reason> all;
    for (const auto& [ifindex, rest] : rests_)
        if (const auto* link = rest.over ? nullptr : network.link(ifindex))
            all.emplace(ifindex, reasonOf(link->name, rest.why));
    return all;
}

} // namespace tna::daemon
