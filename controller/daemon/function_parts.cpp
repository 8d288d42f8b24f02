// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_parts.hpp"

#include "deploy/functions/steering.hpp"

#include <algorithm>
#include <cerrno>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
/// Queues of the way back that a user may keep without being connected: a process that was a function may
/// have kept its socket.
constexpr unsigned mostKept = 8;

/// Else what it gives back would be lost; so its frames are treated as those that nobody takes.
Error noWayBack(const FunctionPlan& plan) {
    auto what = fmt::format("'{}' gives frames back, and there is no way back for it", plan.declared.name);
    if (plan.backIfindex == 0)
        return Error{std::move(what), {}, "`tnactl function list` says why"};
    return Error{std::move(what), "what its user may have is taken",
                 "end processes that are, or were, network functions"};
}

/// Memory that a driver fills by itself cannot be shared with the way back, which is no hardware.
Error noCopies(const FunctionPlan& plan) {
    return Error{
        fmt::format("'{}' gives frames back, and with mode = \"zero-copy\" there is no way back here",
                    plan.declared.name),
        {},
        "leave 'mode' out of its declaration",
        ExitCode::usage};
}

bool isWithoutCopies(const FunctionParts& parts) {
    return std::ranges::any_of(parts.made.sockets, [](const auto& socket) { return socket.zeroCopy; });
}

/// Nobody else's queue, if there is one. An error is something else.
Result<void> addWayBack(FunctionParts& parts, const FunctionPlan& plan) {
    unsigned kept = 0;
    for (const auto& [queue, hadByUser] : plan.backQueues) {
        const deploy::QueueOfPort back{plan.backIfindex, "the way back to Linux", queue, queue + 1,
                                       plan.takesOn};
        const auto added = deploy::addXdpSocket(parts.made, plan.declared, back);
        if (added) {
            parts.backQueue = queue;
            parts.bound.push_back(back);
            return {};
        }
        if (added.error().number != EBUSY)
            return added;
        kept += hadByUser ? 1U : 0U;
        if (kept == mostKept)
            break;
    }
    return {};
}

/// Functions that do not need it do without.
std::optional<Error> obstacleOnTheWayBack(const FunctionPlan& plan, const FunctionParts& parts,
                                          const Result<void>& added) {
    if (parts.backQueue || (!plan.givesBack && !parts.bound.empty()))
        return std::nullopt;
    if (isWithoutCopies(parts))
        return noCopies(plan);
    if (!added)
        return added.error();
    if (plan.givesBack)
        return noWayBack(plan);
    return Error{fmt::format("'{}' has no queue, and there is no way back for it", plan.declared.name),
                 {},
                 "`tnactl function list` says why"};
}

Result<std::vector<deploy::Presence>> presencesOf(const std::vector<unsigned>& ports) {
    std::vector<deploy::Presence> all;
    const auto place = deploy::Presences::make(std::max<unsigned>(1, static_cast<unsigned>(ports.size())));
    if (!place)
        return std::unexpected(place.error());
    for (const auto ifindex : ports)
        if (ifindex != 0) {
            auto one = place->of(ifindex);
            if (!one)
                return std::unexpected(one.error());
            all.push_back(std::move(*one));
        }
    return all;
}
} // namespace

Result<FunctionParts> makeParts(const FunctionPlan& plan) {
    auto presences = presencesOf(plan.ports);
    if (!presences)
        return std::unexpected(presences.error());
    // Before anything is made that the kernel keeps for a moment.
    if (plan.givesBack && (plan.backIfindex == 0 || plan.backQueues.empty()))
        return std::unexpected(noWayBack(plan));
    auto made = deploy::makeXdpSockets(plan.declared, plan.bound);
    if (!made)
        return std::unexpected(made.error());
    FunctionParts parts{std::move(*made), plan.bound, {}, {}, std::move(*presences)};
    const auto added = plan.backIfindex != 0 ? addWayBack(parts, plan) : Result<void>{};
    if (auto against = obstacleOnTheWayBack(plan, parts, added))
        return std::unexpected(std::move(*against));
    if (!added && !isWithoutCopies(parts))
        spdlog::warn("network function {}: {}; it cannot give frames back", plan.declared.name,
                     added.error().sentence());
    for (std::size_t i = 0; i < parts.bound.size(); i++) {
        auto page = deploy::makeFunctionPage();
        if (!page)
            return std::unexpected(page.error());
        parts.pages.push_back(std::move(*page));
    }
    return parts;
}

} // namespace tna::daemon
