// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/prober.hpp"

#include "bench/bpf/delays_shared.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>

namespace tna::bench {

namespace {
constexpr std::size_t probeSize = 64;
constexpr std::size_t numberAt = 16;
constexpr std::size_t stampAt = 24;
constexpr std::int64_t second = 1'000'000'000;
/// How much longer than to the next probe an answer may take.
constexpr std::int64_t patience = second / 5;
/// 60 MB: a run that finds more is over.
constexpr std::size_t mostDelays = 15'000'000;

std::int64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

void sleepUntil(std::int64_t when) {
    const timespec time{when / second, when % second};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

class Prober {
public:
    Prober(Wire& wire, const Ends& ends, const Pace& pace)
        : wire_(wire), interval_(std::llround(pace.interval * 1e9)),
          end_(now() + std::llround(pace.seconds * 1e9)), due_(now()) {
        std::ranges::copy(ends.forwarder, probe_.begin());
        std::ranges::copy(ends.prober, probe_.begin() + 6);
        probe_[12] = PROBE_TYPE >> 8U;
        probe_[13] = PROBE_TYPE & 0xffU;
        for (std::size_t i = stampAt + sizeof(std::int64_t); i < probeSize; i++)
            probe_.at(i) = static_cast<unsigned char>(i);
    }

    Result<Delays> run(const std::function<bool()>& stop) {
        for (auto time = now(); !over(time) && !stop(); time = now()) {
            if (mustSend(time))
                if (auto sent = send(); !sent)
                    return std::unexpected(sent.error());
            if (takeAnswer())
                continue;
            if (!waiting(now()))
                sleepUntil(std::min(due_, end_));
            else
                wire_.wait(std::chrono::nanoseconds(std::max<std::int64_t>(0, nextAt() - now())));
        }
        return std::move(delays_);
    }

private:
    [[nodiscard]] std::uint64_t unanswered() const {
        return delays_.sent - delays_.nanoseconds.size() - delays_.wrong;
    }
    /// For the answer to the last probe, or to those before.
    [[nodiscard]] bool waiting(std::int64_t time) const {
        return unanswered() != 0 && time - lastSent_ < interval_ + patience;
    }
    /// The first probe is sent however late it is: a busy machine may take the time away before it.
    [[nodiscard]] bool late(std::int64_t time) const { return time >= end_ && delays_.sent != 0; }
    [[nodiscard]] bool over(std::int64_t time) const {
        return (late(time) && !waiting(time)) || delays_.nanoseconds.size() >= mostDelays;
    }
    [[nodiscard]] bool mustSend(std::int64_t time) const {
        return !late(time) && (interval_ != 0 ? time >= due_ : !waiting(time));
    }
    [[nodiscard]] std::int64_t nextAt() const {
        return interval_ != 0 && due_ < end_ ? due_ : lastSent_ + interval_ + patience;
    }

    Result<void> send() {
        const auto memory = wire_.outgoing();
        std::memcpy(probe_.data() + numberAt, &delays_.sent, sizeof(delays_.sent));
        std::ranges::copy(probe_, memory.begin());
        lastSent_ = now();
        std::memcpy(memory.data() + stampAt, &lastSent_, sizeof(lastSent_));
        delays_.sent++;
        // A prober that was held up does not make up for it.
        due_ = std::max(due_ + interval_, interval_ != 0 ? lastSent_ : 0);
        return wire_.send(probeSize);
    }

    bool takeAnswer() {
        const auto answer = wire_.receive();
        if (!answer)
            return false;
        const auto arrived = now();
        std::int64_t stamp = 0;
        if (isAnswer(*answer)) {
            std::memcpy(&stamp, answer->data() + stampAt, sizeof(stamp));
            delays_.nanoseconds.push_back(static_cast<std::uint32_t>(
                std::clamp<std::int64_t>(arrived - stamp, 0, std::numeric_limits<std::uint32_t>::max())));
        } else if (unanswered() != 0) {
            delays_.wrong++;
        }
        wire_.release();
        return true;
    }

    /// What was sent, with its addresses the other way round; numbers and times are any.
    [[nodiscard]] bool isAnswer(std::span<const unsigned char> frame) const {
        constexpr std::size_t rest = stampAt + sizeof(std::int64_t);
        return unanswered() != 0 && frame.size() == probeSize &&
               std::equal(frame.begin(), frame.begin() + 6, probe_.begin() + 6) &&
               std::equal(frame.begin() + 6, frame.begin() + 12, probe_.begin()) &&
               std::equal(frame.begin() + 12, frame.begin() + numberAt, probe_.begin() + 12) &&
               std::equal(frame.begin() + rest, frame.end(), probe_.begin() + rest);
    }

    Wire& wire_;
    std::int64_t interval_;
    std::int64_t end_;
    std::int64_t due_;
    std::int64_t lastSent_ = 0;
    std::array<unsigned char, probeSize> probe_{};
    Delays delays_;
};
} // namespace

Result<Delays> probe(Wire& wire, const Ends& ends, const Pace& pace, const std::function<bool()>& stop) {
    return Prober{wire, ends, pace}.run(stop);
}

nlohmann::json delaysDocument(Delays delays) {
    nlohmann::json document{{"sent", delays.sent}, {"lost", delays.lost()}, {"wrong", delays.wrong}};
    auto& all = delays.nanoseconds;
    std::ranges::sort(all);
    const auto quantile = [&](double part) {
        const double place = part * static_cast<double>(all.size() - 1);
        const auto low = static_cast<std::size_t>(place);
        const auto high = std::min(low + 1, all.size() - 1);
        return all[low] + (place - static_cast<double>(low)) * (static_cast<double>(all[high]) - all[low]);
    };
    if (all.empty()) {
        document["mean_ns"] = nullptr;
        document["quantiles_ns"] = nlohmann::json::array();
        return document;
    }
    double mean = 0;
    for (const auto one : all)
        mean += one / static_cast<double>(all.size());
    double variance = 0;
    for (const auto one : all)
        variance += (one - mean) * (one - mean) / static_cast<double>(all.size());
    document.update({{"mean_ns", mean},
                     {"median_ns", quantile(0.5)},
                     {"sd_ns", std::sqrt(variance)},
                     {"q1_ns", quantile(0.25)},
                     {"q3_ns", quantile(0.75)},
                     {"min_ns", all.front()},
                     {"max_ns", all.back()}});
    for (unsigned percent = 0; percent <= 100; percent++)
        document["quantiles_ns"].push_back(std::round(quantile(percent / 100.0)));
    return document;
}

Result<bool> awaitAnswer(Wire& wire, const Ends& ends, std::chrono::milliseconds longest,
                         const std::function<bool()>& stop) {
    // Several at a time, for those who answer one with the next.
    constexpr Pace some{.interval = 0.002, .seconds = 0.01};
    const auto deadline = std::chrono::steady_clock::now() + longest;
    do {
        const auto delays = probe(wire, ends, some, stop);
        if (!delays)
            return std::unexpected(delays.error());
        if (!delays->nanoseconds.empty())
            return true;
    } while (!stop() && std::chrono::steady_clock::now() < deadline);
    return false;
}

} // namespace tna::bench
