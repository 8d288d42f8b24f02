// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/lane.hpp"

namespace tna::bench {

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
    const auto slowBefore = contender_->slowFrames();
    if (!slowBefore)
        return std::unexpected(slowBefore.error());
    auto sample = bench::measure(
        *traffic_, setup_, duration, [this] { return contender_->cpuSeconds(); }, contender_->processes());
    const auto slowAfter = contender_->slowFrames();
    if (!slowAfter)
        return std::unexpected(slowAfter.error());
    if (sample && *slowAfter)
        sample->slow = **slowAfter - slowBefore->value_or(0);
    return sample;
}

} // namespace tna::bench
