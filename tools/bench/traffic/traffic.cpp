// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <thread>

// The skeleton needs the types before it.
#include "bench/bpf/shared.h"

#include "traffic.skel.h"

namespace tna::bench {

namespace {
/// Frames that are under way move within milliseconds; a busy machine may take longer.
constexpr auto settlePatience = std::chrono::seconds(5);
constexpr auto settleQuiet = std::chrono::milliseconds(150);
constexpr auto tick = std::chrono::milliseconds(1);

bool setPort(const bpf_map* map, __u32 key, const NetNamespace& where, const std::string& device) {
    auto inside = NamespaceScope::enter(where);
    const __u32 ifindex = inside ? ::if_nametoindex(device.c_str()) : 0;
    return ifindex != 0 && bpf_map_update_elem(bpf_map__fd(map), &key, &ifindex, BPF_ANY) == 0;
}

/// Until `done`, or until `progress` has stood still for a while.
template <typename Done, typename Progress>
void waitFor(Done done, Progress progress) {
    const auto start = std::chrono::steady_clock::now();
    auto changed = start;
    auto last = progress();
    for (auto now = start; !done() && now - start < settlePatience && now - changed < settleQuiet;
         now = std::chrono::steady_clock::now()) {
        std::this_thread::sleep_for(tick);
        if (const auto current = progress(); current != last) {
            last = current;
            changed = now;
        }
    }
}
} // namespace

/// The programs write the start of each frame, as it is in the first flow, and add what is a flow's own.
void Traffic::describeFrames(const Setup& setup) {
    auto* known = skeleton_->rodata;
    const auto write = [](auto& words, const Frame& frame) {
        std::memcpy(const_cast<__u64*>(&words[0]), frame.data(), sizeof(words));
    };
    for (std::size_t i = 0; i < frames_.size(); i++) {
        const auto head = frames_[i].head();
        known->sizes[i] = static_cast<__u32>(head.bytes.size());
        known->header_sums[i] = head.sum;
        known->mark_at = static_cast<__u32>(head.markAt);
        write(known->heads[i], head.bytes);
        write(known->heads_back[i], head.back);
        write(known->own_bits, head.ownBits);
    }
    for (std::size_t i = 0; i < PATTERN; i++)
        known->pattern[i] = sizeIndexOf(i, SIZES);
    known->flow_count = setup.flows;
    known->size_count = static_cast<__u32>(frames_.size());
    known->addressing = addressingOf(setup.scenario);
}

/// What counts as unchanged at the sink.
void Traffic::expectFrames(bool forwarded) {
    for (std::size_t i = 0; i < frames_.size(); i++) {
        const auto head = frames_[i].head();
        std::memcpy(skeleton_->bss->expected[i], forwarded ? head.forwarded.data() : head.bytes.data(),
                    sizeof(skeleton_->bss->expected[i]));
    }
}

Result<std::unique_ptr<Traffic>> Traffic::load(const Topology& topology, const Setup& setup) {
    ::traffic* skeleton = traffic__open();
    if (skeleton == nullptr)
        return failErrno(errno, "cannot open the traffic programs");
    std::unique_ptr<Traffic> traffic{new Traffic(skeleton, topology, setup)};
    traffic->describeFrames(setup);
    if (traffic__load(skeleton) != 0)
        return std::unexpected(Error{"cannot load the traffic programs", errnoText(errno), "needs root"});
    if (auto named = traffic->nameDevices(); !named)
        return std::unexpected(named.error());
    if (auto attached = traffic->sink_.attach(); !attached)
        return std::unexpected(attached.error());
    const auto inside = NamespaceScope::enter(topology.generator());
    if (!inside)
        return std::unexpected(inside.error());
    if (auto chosen = traffic->source_.choose(setup); !chosen)
        return std::unexpected(chosen.error());
    return traffic;
}

/// A device map finds devices in the caller's namespace, and keeps them wherever it is used.
Result<void> Traffic::nameDevices() {
    const auto& maps = skeleton_->maps;
    if (!setPort(maps.generator_ports, 0, topology_.generator(), topology_.generatorDevice()) ||
        !setPort(maps.generator_ports, 1, topology_.sink(), topology_.sinkDevice()) ||
        !setPort(maps.reflecting_port, 0, topology_.sink(), topology_.sinkDevice()))
        return failErrno(errno, "cannot name the traffic's devices");
    if (!topology_.cabled() && (!setPort(maps.bridge_ports, 0, topology_.device(), "d1") ||
                                !setPort(maps.bridge_ports, 1, topology_.device(), "d0")))
        return failErrno(errno, "cannot name the devices in between");
    return {};
}

Traffic::~Traffic() {
    sink_.detach();
    traffic__destroy(skeleton_);
}

std::vector<std::string> Traffic::remarks() const {
    auto all = sink_.remarks();
    all.insert(all.end(), source_.remarks().begin(), source_.remarks().end());
    return all;
}

int Traffic::ceilingProgram() const {
    return bpf_program__fd(skeleton_->progs.ceiling);
}

int Traffic::ceilingBackProgram() const {
    return bpf_program__fd(skeleton_->progs.ceiling_back);
}

Counters Counters::since(const Counters& before) const {
    return {sent - before.sent,
            received - before.received,
            wrong - before.wrong,
            late - before.late,
            twice - before.twice,
            sentBack - before.sentBack,
            receivedBack - before.receivedBack};
}

Counters Traffic::counters() const {
    Counters sums;
    // What was received first: then it cannot seem to be more than was sent.
    for (const auto& cpu : skeleton_->bss->received) {
        sums.received += __atomic_load_n(&cpu.frames, __ATOMIC_ACQUIRE);
        sums.wrong += __atomic_load_n(&cpu.wrong, __ATOMIC_RELAXED);
    }
    for (const auto& cpu : skeleton_->bss->generated)
        sums.sent += __atomic_load_n(&cpu.frames, __ATOMIC_RELAXED);
    for (const auto& stream : skeleton_->bss->streams) {
        sums.late += __atomic_load_n(&stream.late, __ATOMIC_RELAXED);
        sums.twice += __atomic_load_n(&stream.twice, __ATOMIC_RELAXED);
    }
    for (const auto& cpu : skeleton_->bss->received_back)
        sums.receivedBack += __atomic_load_n(&cpu.frames, __ATOMIC_RELAXED);
    for (const auto& cpu : skeleton_->bss->generated_back)
        sums.sentBack += __atomic_load_n(&cpu.frames, __ATOMIC_RELAXED);
    return sums;
}

/// What was sent to be looked at is no loss.
void Traffic::forgetCounts() {
    auto* counts = skeleton_->bss;
    for (auto* all : {&counts->generated, &counts->received, &counts->generated_back, &counts->received_back})
        for (auto& cpu : *all)
            cpu = {};
    for (auto& stream : counts->streams)
        stream = {};
}

Counters Traffic::settle() const {
    waitFor(
        [this] {
            const auto now = counters();
            return now.received == now.sent && now.receivedBack == now.sentBack;
        },
        [this] {
            const auto now = counters();
            return now.received + now.receivedBack;
        });
    return counters();
}

Result<void> Traffic::verify(bool forwarded) {
    const auto flows = std::min<unsigned>(flows_, KEPT_FRAMES);
    const auto cpu = lastCpu();
    forgetCounts();
    expectFrames(forwarded);
    if (auto keeping = sink_.keep(); !keeping)
        return keeping;
    // Of each flow, and of each size.
    const auto count = std::max<unsigned>(flows, frames_.size() > 1 ? PATTERN : 1);
    auto sent = source_.sendPinned(cpu, count);
    waitFor([&] { return sink_.keptCount() >= count; }, [&] { return sink_.keptCount(); });
    if (auto counting = sink_.count(); !counting)
        return counting;
    forgetCounts();
    if (!sent)
        return sent;
    std::vector<Frame> expected;
    for (unsigned number = 0; number < count; number++) {
        const auto& frames = frames_[sizeIndexOf(number, frames_.size())];
        const auto sequence = SEQUENCE(cpu % CPUS, number);
        const auto flow = number % flows_;
        expected.push_back(forwarded ? frames.forwarded(flow, sequence) : frames.sent(flow, sequence));
    }
    if (const auto difference = differences(sink_.kept(), expected); !difference.empty())
        return fail("it does not forward correctly: {}", difference);
    return {};
}

} // namespace tna::bench
