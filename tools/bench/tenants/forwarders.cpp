// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/lane.hpp"
#include "bench/tenants/driver_thread.hpp"
#include "bench/tenants/subject.hpp"

namespace tna::bench {

namespace {
/// What `throughput` measures, with the driver's work on a processor of its own.
class LaneSubject : public Subject {
public:
    explicit LaneSubject(std::unique_ptr<Lane> lane) : lane_(std::move(lane)) {}
    Result<Reading> measure(unsigned, double seconds) override {
        const auto sample = lane_->measure({.seconds = seconds});
        if (!sample)
            return std::unexpected(sample.error());
        Reading reading;
        reading.seconds = sample->seconds;
        // Sent and lost are counted from the first to the last frame, arrivals in steady state.
        reading.handled = sample->received;
        reading.offered = sample->received == 0 || sample->total.received == 0
                              ? sample->total.sent
                              : static_cast<std::uint64_t>(static_cast<double>(sample->received) *
                                                           static_cast<double>(sample->total.sent) /
                                                           static_cast<double>(sample->total.received));
        return reading;
    }

private:
    std::unique_ptr<Lane> lane_;
};
} // namespace

Result<std::unique_ptr<Subject>> makeForwarder(const std::string& name, unsigned frameSize,
                                               const std::string& tnad, const Cabling& cabling) {
    Setup setup;
    setup.scenario = name.starts_with("router") ? Scenario::router : Scenario::bridge;
    setup.frameSize = frameSize;
    setup.cabling = cabling;
    // A machine that is cabled to this one is told the subject's own name.
    const auto contender = cabling.cabled() ? name : name.ends_with("-tna") ? "tna" : "linux";
    auto lane = Lane::open(makeContender(contender, tnad, setup), setup);
    if (!lane)
        return std::unexpected(lane.error());
    if (cabling.cabled())
        return std::make_unique<LaneSubject>(std::move(*lane));
    if (auto given = giveDriverItsThread((*lane)->topology().device(), "d0"); !given)
        return std::unexpected(given.error());
    return std::make_unique<LaneSubject>(std::move(*lane));
}

} // namespace tna::bench
