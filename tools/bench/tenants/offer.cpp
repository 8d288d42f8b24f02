// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/offer.hpp"

#include "bench/testbed/devices.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/testbed/process.hpp"
#include "bench/traffic/traffic.hpp"
#include "drop.skel.h"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <net/if.h>
#include <pthread.h>

namespace tna::bench {

namespace {
constexpr unsigned untilInterrupted = 1U << 30U;
constexpr unsigned batch = 64;
} // namespace

Result<std::unique_ptr<DropPlace>> DropPlace::make(unsigned times, const DropEnds& ends) {
    std::unique_ptr<DropPlace> place{new DropPlace};
    if (auto built = ends.named() ? place->use(ends) : place->build(); !built)
        return std::unexpected(built.error());
    if (auto read = place->readMacs(); !read)
        return std::unexpected(read.error());
    if (auto loaded = place->load(times); !loaded)
        return std::unexpected(loaded.error());
    return place;
}

Result<void> DropPlace::load(unsigned times) {
    programs_ = drop__open();
    if (programs_ == nullptr)
        return failErrno(errno, "cannot open the programs that drop");
    const auto inside = NamespaceScope::enter(generator());
    if (!inside)
        return std::unexpected(inside.error());
    const __u32 first = 0;
    const __u32 device = names_[0].empty() ? 0 : ::if_nametoindex(names_[0].c_str());
    programs_->rodata->times = times;
    programs_->rodata->card = device;
    if (drop__load(programs_) != 0)
        return failErrno(errno, "cannot load the programs that drop");
    if (device == 0)
        return {};
    if (bpf_map_update_elem(bpf_map__fd(programs_->maps.way), &first, &device, BPF_ANY) != 0)
        return failErrno(errno, "cannot name the generator's device");
    const auto driver = driverOf(names_[0]);
    countsAtCard_ = driver && *driver != "veth";
    card_.reset(bpf_raw_tracepoint_open("xdp_devmap_xmit", bpf_program__fd(programs_->progs.left)));
    return card_ || !countsAtCard_ ? Result<void>{}
                                   : failErrno(errno, "cannot count what {} sends", names_[0]);
}

Result<void> DropPlace::use(const DropEnds& ends) {
    auto here = NetNamespace::current();
    if (!here)
        return std::unexpected(here.error());
    here_.emplace(std::move(*here));
    names_ = {ends.tx, ends.rx};
    if (const auto mac = macIn(ends.rx)) {
        names_[1].clear();
        macs_[1] = *mac;
    }
    return {};
}

Result<void> DropPlace::readMacs() {
    for (std::size_t end = 0; end < names_.size(); end++) {
        if (names_.at(end).empty())
            continue;
        const auto inside = NamespaceScope::enter(end == 0 ? generator() : device());
        const auto mac = inside ? macOf(names_.at(end)) : std::unexpected(inside.error());
        if (!mac)
            return std::unexpected(mac.error());
        macs_.at(end) = *mac;
    }
    return {};
}

std::vector<unsigned char> DropPlace::frame(unsigned size) const {
    return wrongFrame(size, macs_[0], macs_[1]);
}

DropPlace::~DropPlace() {
    drop__destroy(programs_);
}

Result<void> DropPlace::build() {
    for (const char* role : {"g", "d"}) {
        auto made = OwnNamespace::make(role);
        if (!made)
            return std::unexpected(made.error());
        namespaces_.push_back(std::move(*made));
    }
    const auto &g = namespaces_[0].name(), &d = namespaces_[1].name();
    for (const auto& words : {fmt::format("ip -n {} link add g0 type veth peer name d0 netns {}", g, d),
                              // A far end takes redirected frames only with NAPI.
                              fmt::format("ip netns exec {} ethtool -K d0 gro on", d),
                              fmt::format("ip -n {} link set g0 address {} up", g, generatorMac),
                              fmt::format("ip -n {} address add 198.18.2.1/24 dev d0", d),
                              fmt::format("ip -n {} link set d0 address {} up", d, ingressMac)})
        if (auto done = runCommand(words); !done)
            return done;
    return {};
}

Result<UniqueFd> DropPlace::prepareCard() const {
    if (!cabled())
        return UniqueFd{};
    const auto inside = NamespaceScope::enter(generator());
    if (!inside)
        return std::unexpected(inside.error());
    return attachXdp(bpf_program__fd(programs_->progs.pass), names_[0]);
}

int DropPlace::offerProgram() const {
    return bpf_program__fd(programs_->progs.offer);
}

int DropPlace::workProgram() const {
    return bpf_program__fd(programs_->progs.work);
}

std::uint64_t sumOfProcessors(int map, unsigned place) {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(std::max(1, libbpf_num_possible_cpus())));
    std::uint64_t sum = 0;
    if (bpf_map_lookup_elem(map, &place, values.data()) == 0)
        for (const auto value : values)
            sum += value;
    return sum;
}

std::uint64_t DropPlace::counted(unsigned which) const {
    return sumOfProcessors(bpf_map__fd(programs_->maps.counts), which);
}

std::vector<unsigned char> wrongFrame(unsigned size, const std::array<unsigned char, 6>& from,
                                      const std::array<unsigned char, 6>& to) {
    constexpr unsigned ethernet = 14;
    std::vector<unsigned char> frame(to.begin(), to.end());
    frame.insert(frame.end(), from.begin(), from.end());
    constexpr std::array<unsigned char, 22> rest{8,  0,    0x45, 0,   0,  0, 0, 0,   0,  0, 64,
                                                 17, 0xbe, 0xef, 198, 18, 2, 2, 198, 18, 2, 1};
    frame.insert(frame.end(), rest.begin(), rest.end());
    frame.resize(size);
    const unsigned length = size - ethernet;
    frame[ethernet + 2] = static_cast<unsigned char>(length >> 8U);
    frame[ethernet + 3] = static_cast<unsigned char>(length);
    return frame;
}

Offer::Offer(const DropPlace& place, unsigned size, std::optional<int> program)
    : frame_(place.frame(size)), program_(program.value_or(place.offerProgram())) {
    // The handler does nothing: the signal is to end a system call.
    struct sigaction wake{};
    wake.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &wake, nullptr);
    thread_ = std::thread([this, &place] {
        pinTo(lastCpu());
        result_ = send(place);
        done_ = true;
    });
}

Result<void> Offer::send(const DropPlace& place) const {
    if (auto entered = place.generator().enter(); !entered)
        return entered;
    const auto size = static_cast<__u32>(frame_.size());
    while (!stop_) {
        xdp_md context{};
        context.data_end = size;
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame_.data(), .data_size_in = size,
                    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = untilInterrupted,
                    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch);
        if (bpf_prog_test_run_opts(program_, &options) != 0 && errno != EINTR)
            return failErrno(errno, "cannot offer frames");
    }
    return {};
}

Result<void> Offer::stop() {
    stop_ = true;
    if (!thread_.joinable())
        return result_;
    // Again and again, should one come between asking and calling.
    for (; !done_; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
        ::pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    return result_;
}

} // namespace tna::bench
