// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/dropping.hpp"
#include "bench/tenants/subject.hpp"

#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto warmUp = std::chrono::milliseconds(50);
/// Until the first frame is dropped, on a machine that has much else to do.
constexpr auto startPatience = std::chrono::seconds(5);

/// Frames are offered here, and somebody drops them, here or elsewhere.
class Dropper : public Subject {
public:
    Dropper(std::shared_ptr<DropPlace> place, std::unique_ptr<Dropping> dropping)
        : place_(std::move(place)), dropping_(std::move(dropping)) {}
    Result<Reading> measure(unsigned frameSize, double seconds) override {
        const auto card = place_->prepareCard();
        if (!card)
            return std::unexpected(card.error());
        if (auto resumed = dropping_->resume(); !resumed)
            return std::unexpected(resumed.error());
        auto reading = read(frameSize, seconds);
        dropping_->pause();
        if (!reading || reading->handled != 0 || !place_->cabled())
            return reading;
        if (reading->offered == 0)
            return fail("the sender's driver takes no frames that are redirected to it");
        return fail("none of {} frames was seen: are the interfaces cabled to each other, and does the "
                    "second one have a "
                    "single queue (ethtool -L)?",
                    reading->offered);
    }

private:
    struct Moment {
        double seconds;
        std::uint64_t offered;
        Dropped dropped;
    };
    [[nodiscard]] Result<Moment> moment() {
        Moment now{secondsNow(), place_->offered(), {}};
        const auto dropped = dropping_->dropped();
        if (!dropped)
            return std::unexpected(dropped.error());
        now.dropped = *dropped;
        return now;
    }
    void awaitMoreThan(std::uint64_t frames) {
        const auto deadline = std::chrono::steady_clock::now() + startPatience;
        for (auto now = dropping_->dropped(); now && now->frames <= frames; now = dropping_->dropped()) {
            if (std::chrono::steady_clock::now() > deadline)
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    Result<Reading> read(unsigned frameSize, double seconds) {
        const auto still = dropping_->dropped();
        if (!still)
            return std::unexpected(still.error());
        Offer offer{*place_, frameSize};
        awaitMoreThan(still->frames);
        std::this_thread::sleep_for(warmUp);
        const auto before = moment();
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        const auto after = moment();
        if (auto stopped = offer.stop(); !stopped)
            return std::unexpected(stopped.error());
        if (!before || !after)
            return std::unexpected(before ? after.error() : before.error());
        Reading reading;
        reading.seconds = after->dropped.seconds - before->dropped.seconds;
        reading.handled = after->dropped.frames - before->dropped.frames;
        // Each counts for as long as its own clock says.
        reading.offered = static_cast<std::uint64_t>(static_cast<double>(after->offered - before->offered) *
                                                     reading.seconds / (after->seconds - before->seconds));
        return reading;
    }
    std::shared_ptr<DropPlace> place_;
    std::unique_ptr<Dropping> dropping_;
};
} // namespace

std::unique_ptr<Subject> makeDropper(std::shared_ptr<DropPlace> place, std::unique_ptr<Dropping> dropping) {
    return std::make_unique<Dropper>(std::move(place), std::move(dropping));
}

} // namespace tna::bench
