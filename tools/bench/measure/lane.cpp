// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/lane.hpp"

#include "bench/measure/rule_changes.hpp"
#include "bench/measure/warm_up.hpp"

namespace tna::bench {

namespace {
/// What a fast path leaves to Linux by right: rules see a packet of each connection now and then, and all of
/// those that are not established.
double partForLinux(const Setup& setup) {
    constexpr double nowAndThen = 0.1;
    if (!filters(setup.scenario))
        return 0;
    return setup.tracking == Tracking::established ? nowAndThen : 1;
}
} // namespace

Result<std::unique_ptr<Lane>> Lane::open(std::unique_ptr<Contender> contender, const Setup& setup) {
    if (auto available = contender->available(); !available)
        return std::unexpected(available.error());
    auto topology = Topology::make(setup);
    if (!topology)
        return std::unexpected(topology.error());
    std::unique_ptr<Lane> lane{new Lane(std::move(contender), setup, std::move(*topology))};
    if (auto begun = lane->begin(); !begun)
        return std::unexpected(begun.error());
    return lane;
}

Result<void> Lane::begin() {
    auto traffic = Traffic::load(topology_, setup_);
    if (!traffic)
        return std::unexpected(traffic.error());
    traffic_ = std::move(*traffic);
    auto inside = NamespaceScope::enter(topology_.device());
    if (!inside)
        return std::unexpected(inside.error());
    if (auto started = contender_->start(*traffic_); !started)
        return started;
    if (auto verified = traffic_->verify(contender_->forwards()); !verified)
        return verified;
    if (contender_->connects()) {
        auto tried = tryTcp(topology_, setup_);
        if (!tried)
            return std::unexpected(tried.error());
        tcp_ = *tried;
    }
    if (contender_->forwards())
        if (auto warm = warmUp(*traffic_, setup_); !warm)
            return warm;
    contender_->pause();
    auto devices = describeDevices(topology_);
    if (!devices)
        return std::unexpected(devices.error());
    devices_ = std::move(*devices);
    return {};
}

Lane::~Lane() {
    // The contender may have programs on the devices, and none if it was not started.
    const auto inside = NamespaceScope::enter(topology_.device());
    if (inside)
        contender_->stop();
}

Result<Sample> Lane::measure(Duration duration) {
    const Turn turn{*contender_};
    if (!turn.begun())
        return std::unexpected(turn.begun().error());
    const auto inside = NamespaceScope::enter(topology_.device());
    if (!inside)
        return std::unexpected(inside.error());
    if (auto warm = warmUpAgain(setup_); !warm)
        return std::unexpected(warm.error());
    const auto slowBefore = contender_->slowFrames();
    if (!slowBefore)
        return std::unexpected(slowBefore.error());
    RuleChanges changes{setup_};
    auto sample = bench::measure(
        *traffic_, setup_, duration, [this] { return contender_->cpuSeconds(); }, contender_->processes());
    const auto changed = changes.stop();
    if (!changed)
        return std::unexpected(changed.error());
    const auto slowAfter = contender_->slowFrames();
    if (!slowAfter)
        return std::unexpected(slowAfter.error());
    if (sample && *slowAfter)
        sample->slow = **slowAfter - slowBefore->value_or(0);
    if (sample)
        sample->mayBeSlow = partForLinux(setup_);
    if (sample && setup_.tracking == Tracking::fresh && sample->total.sent > setup_.flows)
        return fail("{} frames cannot all begin one of {} connections: more --stations, or fewer --seconds",
                    sample->total.sent, setup_.flows);
    return sample;
}

} // namespace tna::bench
