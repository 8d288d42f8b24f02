// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic_source.hpp"

#include "bench/traffic/clock.hpp"
#include "bench/traffic/pacer.hpp"
#include "capability/xdp_features.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <cmath>
#include <limits>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <thread>

// The skeleton needs the types before it.
#include "bench/bpf/shared.h"

#include "traffic.skel.h"

namespace tna::bench {

namespace {
constexpr unsigned largestBatch = 64;
constexpr unsigned untilInterrupted = 1U << 30U;
constexpr unsigned hugeCount = 1U << 24U;
constexpr double nanoseconds = 1e9;
} // namespace

unsigned lastCpu() {
    return std::max(1U, std::thread::hardware_concurrency()) - 1;
}

void pinTo(unsigned cpu) {
    cpu_set_t set{};
    CPU_SET(cpu, &set);
    ::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
}

TrafficSource::TrafficSource(::traffic& skeleton, const Topology& topology, const Setup& setup)
    : skeleton_(skeleton), topology_(topology), flows_(setup.flows), queues_(setup.queues),
      whole_(framesOf(setup).back().sent(0)), writer_(setup) {}

/// In the generator's namespace, with the sinks attached: some drivers take redirected frames only then.
Result<void> TrafficSource::choose(const Setup& setup) {
    generator_ = setup.generator == Generator::automatic ? Generator::live : setup.generator;
    if (setup.generator != Generator::automatic)
        return {};
    if (const auto largest = largestFrameOf(Generator::live); sizesOf(setup).back() > largest) {
        generator_ = Generator::packet;
        remarks_.push_back(fmt::format(
            "frames of more than {} bytes do not fit into a page: they are sent by a packet socket",
            largest));
    } else if (topology_.cabled()) {
        const auto features = capability::readXdpFeatures();
        const auto known = features ? features->find(::if_nametoindex(topology_.generatorDevice().c_str()))
                                    : decltype(features->end()){};
        if (features && (known == features->end() || !known->second.redirectTarget)) {
            generator_ = Generator::packet;
            remarks_.push_back(
                fmt::format("the driver of {} takes no redirected frames: they are sent by a packet socket",
                            topology_.generatorDevice()));
        }
    }
    return {};
}

Result<void> TrafficSource::run(const bpf_program* program, unsigned count, unsigned batch) const {
    auto frame = whole_;
    const auto size = static_cast<__u32>(frame.size());
    xdp_md context{};
    context.data_end = size;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = size, .ctx_in = &context,
                .ctx_size_in = sizeof(context), .repeat = static_cast<int>(count),
                .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch);
    if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) != 0 && errno != EINTR)
        return failErrno(errno, "cannot send frames with BPF_PROG_TEST_RUN");
    return {};
}

Result<std::unique_ptr<Sender>> TrafficSource::makeSender(unsigned cpu) const {
    const auto& device = topology_.generatorDevice();
    return generator_ == Generator::xdp ? makeXdpSender(device, cpu % queues_) : makePacketSender(device);
}

namespace {
/// Writes and sends up to `count` frames of a CPU; says how many.
Result<void> sendSome(Sender& sender, const FrameWriter& writer, per_cpu& own, FrameWriter::Which which,
                      unsigned count, unsigned flows, const std::atomic<bool>& stop) {
    const auto number = own.frames;
    const auto flow = own.flow;
    for (unsigned i = 0; i < count; i++) {
        which.flow = static_cast<unsigned>((flow + i) % flows);
        which.number = number + i;
        sender.setSize(i, writer.write(sender.frame(i), which));
    }
    for (unsigned done = 0; done < count && !stop;) {
        const auto sent = sender.send(done, count);
        if (!sent)
            return std::unexpected(sent.error());
        if (*sent == 0)
            std::this_thread::yield();
        done += *sent;
        own.flow = (flow + done) % flows;
        __atomic_store_n(&own.frames, number + done, __ATOMIC_RELEASE);
    }
    return {};
}
} // namespace

Result<void> TrafficSource::sendFromHere(std::optional<double> rate, std::uint64_t count,
                                         const std::atomic<bool>& stop) const {
    const auto cpu = static_cast<unsigned>(::sched_getcpu()) % CPUS;
    auto sender = makeSender(cpu);
    if (!sender)
        return std::unexpected(sender.error());
    auto& own = skeleton_.bss->generated[cpu];
    Result<void> result;
    if (rate) {
        Pacer pacer{*rate, monotonicNow()};
        pace(
            pacer, monotonicNow,
            [&](std::uint64_t due) {
                result = sendSome(**sender, writer_, own, {.cpu = cpu, .due = due}, 1, flows_, stop);
            },
            [&] { return stop || !result; });
        return result;
    }
    for (std::uint64_t sent = 0; sent < count && !stop && result;) {
        const auto some = static_cast<unsigned>(std::min<std::uint64_t>((*sender)->room(), count - sent));
        result = sendSome(**sender, writer_, own, {.cpu = cpu}, some, flows_, stop);
        sent += some;
    }
    return result;
}

Result<void> TrafficSource::send(const std::atomic<bool>& stop) const {
    if (generator_ != Generator::live)
        return sendFromHere({}, std::numeric_limits<std::uint64_t>::max(), stop);
    Result<void> result;
    while (result && !stop)
        result = run(skeleton_.progs.generate, hugeCount, largestBatch);
    return result;
}

Result<void> TrafficSource::sendBack(unsigned count) const {
    const auto inside = NamespaceScope::enter(topology_.sink());
    if (!inside)
        return std::unexpected(inside.error());
    if (generator_ == Generator::live)
        return run(skeleton_.progs.generate_back, count, std::min(largestBatch, count));
    if (!backSender_) {
        auto sender = makePacketSender(topology_.sinkDevice());
        if (!sender)
            return std::unexpected(sender.error());
        backSender_ = std::move(*sender);
    }
    const std::atomic<bool> never{false};
    Result<void> result;
    for (unsigned sent = 0; sent < count && result;) {
        const auto some = std::min(backSender_->room(), count - sent);
        result = sendSome(*backSender_, writer_, skeleton_.bss->generated_back[0], {.back = true}, some,
                          flows_, never);
        sent += some;
    }
    return result;
}

Result<void> TrafficSource::sendBack() const {
    return sendBack(flows_);
}

Result<void> TrafficSource::sendPaced(double framesPerSecond, const std::atomic<bool>& stop) const {
    if (generator_ != Generator::live)
        return sendFromHere(framesPerSecond, 0, stop);
    const double gap = nanoseconds / framesPerSecond;
    skeleton_.bss->pace = static_cast<__u64>(gap);
    skeleton_.bss->pace_rest = static_cast<__u32>(std::ldexp(gap - std::floor(gap), 32));
    skeleton_.bss->due = monotonicNow();
    Result<void> result;
    while (result && !stop)
        result = run(skeleton_.progs.generate_paced, untilInterrupted, 1);
    return result;
}

Result<void> TrafficSource::sendOnce() const {
    return sendPinned(lastCpu(), flows_);
}

/// From one CPU, so that each flow has its turn: CPUs count flows by themselves.
Result<void> TrafficSource::sendPinned(unsigned cpu, unsigned count) const {
    Result<void> sent;
    std::thread([&] {
        pinTo(cpu);
        sent = topology_.generator().enter();
        if (sent)
            sent = generator_ == Generator::live
                       ? run(skeleton_.progs.generate, count, std::min(largestBatch, count))
                       : sendFromHere({}, count, std::atomic<bool>{false});
    }).join();
    return sent;
}

} // namespace tna::bench
