// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic.hpp"

#include <array>
#include <bpf/bpf.h>
#include <chrono>
#include <csignal>
#include <linux/if_link.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>

// The skeleton needs the types before it.
#include "bench/bpf/per_cpu.h"

#include "traffic.skel.h"

namespace tna::bench {

namespace {
constexpr unsigned batch = 64;
constexpr int hugeRepeat = 1 << 24;

double threadCpuSeconds(std::thread& thread) {
    clockid_t clock{};
    timespec time{};
    if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pause(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

int runLive(int program, unsigned frameSize, int repeat) {
    std::vector<unsigned char> frame(frameSize);
    xdp_md context{};
    context.data_end = frameSize;
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frameSize,
                .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = repeat,
                .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch);
    return bpf_prog_test_run_opts(program, &options);
}

bool setTarget(::traffic* skeleton, __u32 key, const NetNamespace& where, const char* device) {
    auto inside = NamespaceScope::enter(where);
    const __u32 ifindex = inside ? ::if_nametoindex(device) : 0;
    return ifindex != 0 &&
           bpf_map_update_elem(bpf_map__fd(skeleton->maps.targets), &key, &ifindex, BPF_ANY) == 0;
}
} // namespace

Result<UniqueFd> attachXdp(int program, const std::string& device) {
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
    UniqueFd link{
        bpf_link_create(program, static_cast<int>(::if_nametoindex(device.c_str())), BPF_XDP, &options)};
    if (!link)
        return failErrno(errno, "cannot attach an XDP program to {}", device);
    return link;
}

Result<std::unique_ptr<Traffic>> Traffic::load(const BridgeTopology& topology, unsigned flows,
                                               unsigned frameSize) {
    ::traffic* skeleton = traffic__open();
    if (skeleton == nullptr)
        return failErrno(errno, "cannot open the traffic programs");
    std::unique_ptr<Traffic> traffic{new Traffic(skeleton, topology, frameSize)};
    skeleton->rodata->flow_count = flows;
    skeleton->rodata->frame_size = frameSize;
    if (traffic__load(skeleton) != 0)
        return std::unexpected(Error{"cannot load the traffic programs", errnoText(errno), "needs root"});
    // A device map finds devices in the caller's namespace, and keeps them wherever it is used.
    if (!setTarget(skeleton, 0, topology.generator(), "g0") ||
        !setTarget(skeleton, 1, topology.device(), "d1"))
        return failErrno(errno, "cannot name the traffic's devices");
    if (auto attached = traffic->attachSink(); !attached)
        return std::unexpected(attached.error());
    return traffic;
}

Result<void> Traffic::attachSink() {
    auto inside = NamespaceScope::enter(topology_.sink());
    if (!inside)
        return std::unexpected(inside.error());
    auto link = attachXdp(bpf_program__fd(skeleton_->progs.sink), "s0");
    if (!link)
        return std::unexpected(link.error());
    sinkLink_ = std::move(*link);
    return {};
}

Traffic::~Traffic() {
    sinkLink_.reset();
    traffic__destroy(skeleton_);
}

int Traffic::ceilingProgram() const {
    return bpf_program__fd(skeleton_->progs.ceiling);
}

Sample Traffic::counters() const {
    Sample sample;
    for (const auto& cpu : skeleton_->bss->generated)
        sample.generated += __atomic_load_n(&cpu.frames, __ATOMIC_RELAXED);
    for (const auto& cpu : skeleton_->bss->received) {
        sample.received += __atomic_load_n(&cpu.frames, __ATOMIC_RELAXED);
        sample.wrong += __atomic_load_n(&cpu.wrong, __ATOMIC_RELAXED);
    }
    return sample;
}

/// Runs until told to stop; a signal ends the system call.
void Traffic::generate(unsigned cpu, const std::atomic<bool>& stop) const {
    cpu_set_t set{};
    CPU_SET(cpu, &set);
    ::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
    if (!topology_.generator().enter())
        return;
    while (!stop)
        if (runLive(bpf_program__fd(skeleton_->progs.generate), frameSize_, hugeRepeat) != 0 &&
            errno != EINTR)
            return;
}

Result<Sample> Traffic::measure(unsigned cpus, double warmUp, double duration) {
    struct sigaction ignore{};
    ignore.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &ignore, nullptr);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        // With two CPUs, the last one first: the first is the one that handles the machine's interrupts.
        threads.emplace_back([this, cpu = cpus == 1 ? std::thread::hardware_concurrency() - 1 : cpu, &stop] {
            generate(cpu, stop);
        });
    pause(warmUp);
    const auto before = counters();
    const double start = now();
    double cpuBefore = 0;
    for (auto& thread : threads)
        cpuBefore += threadCpuSeconds(thread);
    pause(duration);
    const auto after = counters();
    Sample sample{now() - start, after.generated - before.generated, after.received - before.received,
                  after.wrong - before.wrong, -cpuBefore};
    for (auto& thread : threads)
        sample.cpuSeconds += threadCpuSeconds(thread);
    stop = true;
    for (auto& thread : threads) {
        ::pthread_kill(thread.native_handle(), SIGUSR1);
        thread.join();
    }
    if (sample.generated == 0)
        return fail("the generator sent nothing");
    return sample;
}

Result<Sample> Traffic::check(unsigned count) {
    auto inside = NamespaceScope::enter(topology_.generator());
    if (!inside)
        return std::unexpected(inside.error());
    const auto before = counters();
    if (runLive(bpf_program__fd(skeleton_->progs.generate), frameSize_, static_cast<int>(count)) != 0)
        return failErrno(errno, "cannot send frames");
    Sample after;
    for (int i = 0; i < 200 && (after = counters()).received - before.received < count; i++)
        pause(0.001);
    return Sample{0, after.generated - before.generated, after.received - before.received,
                  after.wrong - before.wrong, 0};
}

} // namespace tna::bench
