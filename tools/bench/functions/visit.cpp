// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/visit.hpp"

#include "bench/functions/processors.hpp"
#include "bench/measure/bisection.hpp"

#include <algorithm>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto patience = std::chrono::seconds(20);
constexpr double warmUp = 0.1;
constexpr double mostSeconds = 10;
constexpr double pauseBetweenTrials = 0.02;
constexpr double usualTrials = 12;
constexpr double million = 1e6;
constexpr double percent = 100;
/// Without the rest of what is offered there may be more.
constexpr double headroom = 1.5;
constexpr double resolution = 0.05;
constexpr double leastRate = 1000;
constexpr unsigned mostDoublings = 8;

void sleepFor(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct Moment {
    double seconds = 0;
    double offered = 0;
    double handled = 0;
};

class Visit {
public:
    Visit(const FunctionsOptions& options, const FunctionsCase& one, FarSide& side, Contestant& contestant,
          const std::string& name)
        : options_(options), one_(one), side_(side), contestant_(contestant), name_(name) {}

    /// Functions need some time to connect.
    Result<void> awaitFirst() {
        side_.setRate(0);
        auto offer = side_.offer();
        auto before = now();
        const auto start = monotonicNow();
        for (auto latest = before; latest && before && latest->handled <= before->handled; latest = now()) {
            if (contestant_.ended())
                return fail("{} ended: {}", name_, contestant_.complaint());
            if (monotonicNow() - start > std::chrono::duration<double>(patience).count())
                return std::unexpected(
                    Error{fmt::format("{} treated no frame in {} s", name_, patience.count()),
                          contestant_.complaint(),
                          {}});
            sleepFor(0.002);
        }
        sleepFor(warmUp);
        return offer.stop();
    }

    Result<nlohmann::json> atFullOffer() {
        side_.setRate(0);
        auto offer = side_.offer();
        sleepFor(warmUp);
        const auto cpuBefore = cpuTimes(side_.cpus(), side_.driverThread());
        const auto before = now();
        const double start = monotonicNow();
        sleepFor(options_.seconds);
        auto after = now();
        // Who has to share its processor with others may not have had a turn yet.
        while (before && after && after->handled <= before->handled && monotonicNow() - start < mostSeconds) {
            sleepFor(options_.seconds);
            after = now();
        }
        const auto cpuAfter = cpuTimes(side_.cpus(), side_.driverThread());
        const double cpuSeconds = monotonicNow() - start;
        if (auto stopped = offer.stop(); !stopped)
            return std::unexpected(stopped.error());
        if (!before || !after)
            return std::unexpected(before ? after.error() : before.error());
        if (!cpuBefore || !cpuAfter)
            return std::unexpected(cpuBefore ? cpuAfter.error() : cpuBefore.error());
        const double took = after->seconds - before->seconds;
        const double handled = after->handled - before->handled, offered = after->offered - before->offered;
        full_ = handled / took;
        if (handled <= 0)
            return fail("{} treated no frame in {:.0f} s at full offer", name_, took);
        return nlohmann::json{{"mpps", handled / took / million},
                              {"offered_mpps", offered / took / million},
                              // What was under way at the start may come back in addition.
                              {"loss", offered > 0 ? std::max(0.0, 1 - handled / offered) : 0},
                              {"user", (cpuAfter->user - cpuBefore->user) / cpuSeconds},
                              // The driver's thread is told exactly, all else by samples.
                              {"system", std::max(0.0, cpuAfter->system - cpuBefore->system) / cpuSeconds},
                              {"softirq", (cpuAfter->softirq - cpuBefore->softirq) / cpuSeconds}};
    }

    Result<nlohmann::json> withoutLoss() {
        if (auto put = side_.putDriverFirst(true); !put)
            return std::unexpected(put.error());
        Search search{.most = headroom * std::max(full_, leastRate),
                      .tolerance = options_.loss / percent,
                      .resolution = resolution};
        NoLossRate found;
        std::size_t trials = 0;
        // At full offer, one may do much worse than at a rate that leaves it time.
        for (unsigned i = 0; i < mostDoublings; i++, search.most *= 2) {
            auto next = findNoLossRate(search, [this](double rate) { return attempt(rate); });
            if (!next)
                return std::unexpected(next.error());
            trials += next->trials.size();
            if (next->rate >= found.rate)
                found = std::move(*next);
            if (found.throttled || found.rate < search.most)
                break;
        }
        return nlohmann::json{
            {"mpps", found.rate / million}, {"throttled", found.throttled}, {"trials", trials}};
    }

private:
    /// All that was counted, by the contestant first: its time is what counts.
    Result<Moment> now() {
        const auto dropped = contestant_.dropped();
        if (!dropped)
            return std::unexpected(dropped.error());
        const auto local = one_.which == Class::local ? side_.local() : Result<std::uint64_t>{0};
        if (!local)
            return std::unexpected(local.error());
        return Moment{dropped->seconds, static_cast<double>(side_.offered()),
                      static_cast<double>(dropped->frames + side_.returned() + *local)};
    }

    /// A generator that had to wait for others on its processor, and lost nothing, has another try.
    Result<Trial> attempt(double rate) {
        auto trial = offerAt(rate);
        for (unsigned i = 0; i < 2 && trial && trial->throttled() && trial->loss() * percent <= options_.loss;
             i++)
            trial = offerAt(rate);
        return trial;
    }

    Result<Trial> offerAt(double rate) {
        auto before = settled();
        if (!before)
            return std::unexpected(before.error());
        side_.setRate(rate);
        auto offer = side_.offer();
        const auto begun = side_.offered();
        for (unsigned i = 0; i < 1000 && side_.offered() == begun; i++)
            sleepFor(0.001);
        const double start = monotonicNow();
        const auto offeredBefore = side_.offered();
        sleepFor(options_.trial);
        const double really = static_cast<double>(side_.offered() - offeredBefore) / (monotonicNow() - start);
        if (auto stopped = offer.stop(); !stopped)
            return std::unexpected(stopped.error());
        const auto after = settled();
        if (!after)
            return std::unexpected(after.error());
        const double sent = after->offered - before->offered, handled = after->handled - before->handled;
        return Trial{rate, really, static_cast<std::uint64_t>(sent),
                     static_cast<std::uint64_t>(std::max(0.0, sent - handled))};
    }

    /// When nothing is under way any more.
    Result<Moment> settled() {
        auto latest = now();
        for (unsigned i = 0; latest && i < 100; i++) {
            sleepFor(pauseBetweenTrials);
            auto next = now();
            if (!next || next->handled == latest->handled)
                return next;
            latest = std::move(next);
        }
        return latest;
    }

    const FunctionsOptions& options_;
    const FunctionsCase& one_;
    FarSide& side_;
    Contestant& contestant_;
    const std::string& name_;
    double full_ = 0;
};

Result<nlohmann::json> visitOf(const FunctionsOptions& options, const FunctionsCase& one,
                               const ContestantKind& kind, const std::string& workload) {
    const auto side = FarSide::make(one);
    if (!side)
        return std::unexpected(side.error());
    auto contestant = kind.start({**side, one, options.tnad, workload});
    if (!contestant)
        return std::unexpected(contestant.error());
    Visit own{options, one, **side, **contestant, kind.name};
    if (auto first = own.awaitFirst(); !first)
        return std::unexpected(first.error());
    auto full = own.atFullOffer();
    if (!full)
        return std::unexpected(full.error());
    Result<nlohmann::json> without{nullptr};
    if (options.measures("rfc2544"))
        without = own.withoutLoss();
    if (!without)
        return std::unexpected(without.error());
    if ((*side)->wrong() != 0)
        return fail("{} frames came back from {} that are not as they have to be", (*side)->wrong(),
                    kind.name);
    return nlohmann::json{{"not_measured", nullptr},
                          {"full", options.measures("full") ? std::move(*full) : nlohmann::json(nullptr)},
                          {"rfc2544", std::move(*without)}};
}
} // namespace

nlohmann::json visit(const FunctionsOptions& options, const FunctionsCase& one, const ContestantKind& kind,
                     const std::string& workload) {
    auto made = visitOf(options, one, kind, workload);
    // A busy machine may be the reason, once.
    if (!made)
        made = visitOf(options, one, kind, workload);
    return made ? std::move(*made) : nlohmann::json{{"not_measured", made.error().sentence()}};
}

double secondsOfVisit(const FunctionsOptions& options) {
    return 2 * warmUp + options.seconds +
           (options.measures("rfc2544") ? usualTrials * (options.trial + 3 * pauseBetweenTrials) : 0);
}

} // namespace tna::bench
