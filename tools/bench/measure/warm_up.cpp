// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/warm_up.hpp"

#include "bench/testbed/connections.hpp"

#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
/// A flow of UDP is one that lasts when it goes on two seconds after it began (nf_conntrack_proto_udp.c).
constexpr auto untilItLasts = std::chrono::milliseconds(2200);
constexpr unsigned mostAttempts = 5;

/// A frame of each flow, until all have arrived: where very many come at once, some may be lost.
template <typename Send>
Result<void> playAll(const Traffic& traffic, const Send& send) {
    for (unsigned attempt = 0; attempt < mostAttempts; attempt++) {
        const auto before = traffic.counters();
        if (auto sent = send(); !sent)
            return sent;
        const auto passed = traffic.settle().since(before);
        if (passed.received == passed.sent && passed.receivedBack == passed.sentBack)
            return {};
    }
    return fail("of one frame of each flow some are lost each time, of {} times", mostAttempts);
}

Result<void> playBothWays(const Traffic& traffic) {
    if (auto there = playAll(traffic, [&] { return traffic.source().sendOnce(); }); !there)
        return there;
    return playAll(traffic, [&] { return traffic.source().sendBack(); });
}
} // namespace

Result<void> warmUp(Traffic& traffic, const Setup& setup) {
    const bool here = !setup.cabling.cabled();
    if (!filters(setup.scenario) || setup.tracking == Tracking::off)
        return {};
    if (here)
        if (auto room = roomForConnections(setup.flows); !room)
            return room;
    if (setup.tracking == Tracking::fresh)
        return {};
    if (setup.tracking == Tracking::oneWay)
        return playAll(traffic, [&] { return traffic.source().sendOnce(); });
    if (auto played = playBothWays(traffic); !played)
        return played;
    std::this_thread::sleep_for(untilItLasts);
    if (auto played = playBothWays(traffic); !played)
        return played;
    if (!here)
        return {};
    const auto known = countConnections();
    if (!known)
        return std::unexpected(known.error());
    if (*known < setup.flows)
        return fail("connection tracking knows {} connections, and there are {} flows", *known, setup.flows);
    return {};
}

Result<void> warmUpAgain(const Setup& setup) {
    return filters(setup.scenario) && setup.tracking == Tracking::fresh ? forgetConnections()
                                                                        : Result<void>{};
}

} // namespace tna::bench
