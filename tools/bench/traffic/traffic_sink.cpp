// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/traffic_sink.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <linux/if_link.h>
#include <net/if.h>
#include <numeric>

// The skeleton needs the types before it.
#include "bench/bpf/shared.h"

#include "traffic.skel.h"

namespace tna::bench {

namespace {
Result<UniqueFd> attachProgram(int program, const std::string& device, __u32 mode) {
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode);
    UniqueFd link{
        bpf_link_create(program, static_cast<int>(::if_nametoindex(device.c_str())), BPF_XDP, &options)};
    if (!link)
        return failErrno(errno, "cannot attach an XDP program to {}", device);
    return link;
}
} // namespace

Result<UniqueFd> attachXdp(int program, const std::string& device) {
    return attachProgram(program, device, XDP_FLAGS_DRV_MODE);
}

/// A driver without XDP gives frames to a sink as well, only later.
Result<UniqueFd> TrafficSink::attachTo(const bpf_program* program, const std::string& device) {
    auto link = attachXdp(bpf_program__fd(program), device);
    if (link || !topology_.cabled())
        return link;
    auto generic = attachProgram(bpf_program__fd(program), device, XDP_FLAGS_SKB_MODE);
    if (generic)
        remarks_.push_back(fmt::format("frames are counted on {} by generic XDP, which takes longer: {}",
                                       device, link.error().sentence()));
    return generic;
}

Result<void> TrafficSink::put(const NetNamespace& where, const std::string& device) {
    link_.reset();
    auto inside = NamespaceScope::enter(where);
    if (!inside)
        return std::unexpected(inside.error());
    auto link = attachTo(skeleton_.progs.sink, device);
    if (!link)
        return std::unexpected(link.error());
    link_ = std::move(*link);
    return {};
}

Result<void> TrafficSink::attach() {
    if (auto attached = put(topology_.sink(), topology_.sinkDevice()); !attached)
        return attached;
    const auto inside = NamespaceScope::enter(topology_.generator());
    if (!inside)
        return std::unexpected(inside.error());
    auto back = attachTo(skeleton_.progs.sink_back, topology_.generatorDevice());
    if (!back)
        return std::unexpected(back.error());
    backLink_ = std::move(*back);
    return {};
}

void TrafficSink::detach() {
    link_.reset();
    backLink_.reset();
}

Result<void> TrafficSink::use(const bpf_program* program) {
    if (bpf_link_update(link_.get(), bpf_program__fd(program), nullptr) != 0)
        return failErrno(errno, "cannot replace the sink's program");
    return {};
}

Result<void> TrafficSink::watch(Watch what) {
    const auto& programs = skeleton_.progs;
    skeleton_.bss->dated = what == Watch::dates ? 1 : 0;
    const auto* back = what == Watch::roundTrips ? programs.sink_back_stamped : programs.sink_back;
    if (bpf_link_update(backLink_.get(), bpf_program__fd(back), nullptr) != 0)
        return failErrno(errno, "cannot replace the program for frames that come back");
    switch (what) {
    case Watch::latency:
        return use(programs.sink_stamped);
    case Watch::roundTrips:
        return use(programs.reflect);
    case Watch::dates:
        return use(programs.sink_dated);
    case Watch::nothing:
        break;
    }
    return use(programs.sink);
}

TrafficSink::Dates TrafficSink::dates() const {
    return {__atomic_load_n(&skeleton_.bss->earliest, __ATOMIC_ACQUIRE),
            __atomic_load_n(&skeleton_.bss->latest, __ATOMIC_ACQUIRE)};
}

void TrafficSink::forgetDates() const {
    __atomic_store_n(&skeleton_.bss->latest, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&skeleton_.bss->earliest, 0, __ATOMIC_RELEASE);
}

Histogram TrafficSink::takeLatencies() const {
    const int map = bpf_map__fd(skeleton_.maps.latencies);
    const auto cpus = static_cast<std::size_t>(libbpf_num_possible_cpus());
    std::vector<__u64> counts(cpus);
    const std::vector<__u64> none(cpus);
    Histogram histogram;
    for (__u32 bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
        if (bpf_map_lookup_elem(map, &bucket, counts.data()) != 0)
            continue;
        const auto sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
        histogram.add(bucket, sum);
        if (sum != 0)
            bpf_map_update_elem(map, &bucket, none.data(), BPF_ANY);
    }
    return histogram;
}

Result<void> TrafficSink::keep() {
    __atomic_store_n(&skeleton_.bss->kept_count, 0, __ATOMIC_RELEASE);
    return use(skeleton_.progs.keep);
}

std::size_t TrafficSink::keptCount() const {
    return __atomic_load_n(&skeleton_.bss->kept_count, __ATOMIC_ACQUIRE);
}

Result<void> TrafficSink::count() {
    return use(skeleton_.progs.sink);
}

std::vector<Frame> TrafficSink::kept() const {
    std::vector<Frame> frames;
    const auto count = std::min<std::size_t>(keptCount(), KEPT_FRAMES);
    for (__u32 index = 0; index < count; index++) {
        const auto frame = std::make_unique<kept_frame>();
        if (bpf_map_lookup_elem(bpf_map__fd(skeleton_.maps.kept), &index, frame.get()) == 0)
            frames.emplace_back(frame->bytes,
                                frame->bytes + std::min<std::size_t>(frame->size, sizeof(frame->bytes)));
    }
    return frames;
}

} // namespace tna::bench
