// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/far_side.hpp"

#include "bench/bpf/work_shared.h"
#include "bench/tenants/driver_thread.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/traffic/traffic.hpp"
#include "flows.skel.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <sched.h>
#include <sys/resource.h>

namespace tna::bench {

namespace {
using workload::Work;

constexpr std::size_t header = 14;
constexpr std::size_t headerChecksum = 24;
constexpr std::size_t from = 26;
constexpr std::size_t to = 30;
constexpr std::size_t segment = 34;
constexpr std::size_t toPort = 36;
constexpr std::size_t segmentChecksum = 40;
constexpr std::size_t addressLength = 6;

static_assert(static_cast<int>(Work::chain) == WORK_CHAIN && static_cast<int>(Work::lookup) == WORK_LOOKUP);

/// UDP without a source and checksums, from the generator's station to one that is not there: so Linux, where
/// it has frames, drops them as early as it can.
std::vector<unsigned char> plainFrame() {
    std::vector<unsigned char> frame{2, 0, 0xff, 0, 3, 3, 2, 0, 0xff, 0, 1, 2, 8, 0, 0x45, 0};
    frame.resize(WORK_FRAME);
    constexpr std::size_t length = WORK_FRAME - header;
    constexpr std::size_t udp = WORK_FRAME - segment;
    frame.at(17) = length;
    frame.at(22) = 64; // hops
    frame.at(23) = IPPROTO_UDP;
    const auto flow = workload::sessionFlow(0);
    std::memcpy(&frame.at(to), &flow.to, sizeof(flow.to));
    std::memcpy(&frame.at(segment), &flow.fromPort, sizeof(flow.fromPort));
    std::memcpy(&frame.at(toPort), &flow.toPort, sizeof(flow.toPort));
    frame.at(39) = udp;
    for (std::size_t at = segment + 8; at < frame.size(); at++)
        frame.at(at) = static_cast<unsigned char>(at);
    return frame;
}

/// In words as this machine has them.
std::uint32_t sumOf(const std::vector<unsigned char>& frame, std::size_t first, std::size_t end) {
    std::uint32_t sum = 0;
    for (std::size_t at = first; at < end; at += 2) {
        std::uint16_t word = 0;
        std::memcpy(&word, &frame.at(at), sizeof(word));
        sum += word;
    }
    return sum;
}

std::vector<unsigned char> swapped(std::vector<unsigned char> frame) {
    std::swap_ranges(frame.begin(), frame.begin() + addressLength, frame.begin() + addressLength);
    return frame;
}

/// Where frames come back as they are expected, and not according to their source.
std::vector<unsigned char> sameBits() {
    std::vector<unsigned char> same(WORK_FRAME, 0xff);
    std::fill(same.begin() + headerChecksum, same.begin() + segment, 0);
    std::fill(same.begin() + toPort, same.begin() + toPort + 2, 0);
    std::fill(same.begin() + segmentChecksum, same.begin() + segmentChecksum + 2, 0);
    return same;
}

/// It has this program's priority, whatever that is, as what is under test has.
Result<void> makeEqual(pid_t thread) {
    const sched_param usual{};
    if (::sched_setscheduler(thread, SCHED_OTHER, &usual) != 0 ||
        ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread), ::getpriority(PRIO_PROCESS, 0)) != 0)
        return failErrno(errno, "cannot give a driver's thread its priority");
    return {};
}

/// It comes before all programs, as an interrupt does. Who takes frames back has to, beside a generator that
/// never sleeps: a veth's queue is full after 256.
Result<void> makeFirst(pid_t thread) {
    const sched_param first{.sched_priority = 1};
    if (::sched_setscheduler(thread, SCHED_FIFO, &first) != 0)
        return failErrno(errno, "cannot have a driver's thread come first");
    return {};
}
} // namespace

Result<std::unique_ptr<FarSide>> FarSide::make(const FunctionsCase& one) {
    auto place = DropPlace::make(1);
    if (!place)
        return std::unexpected(place.error());
    std::unique_ptr<FarSide> side{new FarSide(std::move(*place))};
    side->size_ = WORK_FRAME;
    for (auto step : {&FarSide::load, &FarSide::assignProcessors})
        if (auto done = (side.get()->*step)(one); !done)
            return std::unexpected(done.error());
    return side;
}

FarSide::~FarSide() {
    link_.reset();
    flows__destroy(programs_);
}

Result<void> FarSide::load(const FunctionsCase& one) {
    programs_ = flows__open();
    if (programs_ == nullptr)
        return failErrno(errno, "cannot open the programs that offer frames");
    auto frame = plainFrame();
    const auto sources = sourcesOf(one);
    auto& data = *programs_->rodata;
    data.kind = static_cast<std::uint32_t>(one.work);
    data.blocked = sources.blocked;
    data.sessions = sources.sessions;
    constexpr double all = 4294967296.0;
    data.blocked_part = static_cast<std::uint64_t>(sources.blockedPart * all);
    data.first_blocked = ntohl(workload::blockedFlow(0).from);
    data.first_session = ntohl(workload::sessionFlow(0).from);
    data.service = workload::sessionFlow(0).to;
    data.service_port = workload::sessionFlow(0).toPort;
    data.header_sum = sumOf(frame, header, headerChecksum);
    data.segment_sum = sumOf(frame, segment, WORK_FRAME) + sumOf(frame, to, segment) + htons(IPPROTO_UDP) +
                       htons(static_cast<std::uint16_t>(WORK_FRAME - segment));
    static_assert(sizeof(data.offered) == WORK_FRAME);
    const auto back = swapped(frame);
    std::memcpy(data.expected, back.data(), back.size());
    std::memcpy(data.same, sameBits().data(), WORK_FRAME);
    // Who is to write a checksum gets one that is wrong.
    if (one.work == Work::checksum)
        frame.at(segmentChecksum) = frame.at(segmentChecksum + 1) = 0xee;
    std::memcpy(data.offered, frame.data(), frame.size());
    if (flows__load(programs_) != 0)
        return failErrno(errno, "cannot load the programs that offer frames");
    return attach();
}

Result<void> FarSide::attach() {
    {
        const auto inside = NamespaceScope::enter(place_->device());
        auto linuxs = inside ? LinuxCounter::open(place_->deviceName()) : std::unexpected(inside.error());
        if (!linuxs)
            return std::unexpected(linuxs.error());
        linux_.emplace(std::move(*linuxs));
    }
    const auto inside = NamespaceScope::enter(place_->generator());
    if (!inside)
        return std::unexpected(inside.error());
    const __u32 first = 0;
    const __u32 device = ::if_nametoindex("g0");
    if (bpf_map_update_elem(bpf_map__fd(programs_->maps.way), &first, &device, BPF_ANY) != 0)
        return failErrno(errno, "cannot name the generator's device");
    auto link = attachXdp(bpf_program__fd(programs_->progs.take), "g0");
    if (!link)
        return std::unexpected(link.error());
    link_ = std::move(*link);
    return {};
}

/// Who offers frames, and takes them back, has the last processor. The driver of the machine under test is on
/// the first one, with user space; or on a second one, and where there is none, in the midst of the
/// generator.
Result<void> FarSide::assignProcessors(const FunctionsCase& one) {
    const unsigned last = lastCpu();
    cpus_ = {0};
    if (last == 0)
        return {};
    const auto back = giveDriverItsThread(place_->generator(), "g0", last);
    if (!back)
        return std::unexpected(back.error());
    if (auto made = makeFirst(*back); !made)
        return made;
    if (one.cpus > 1)
        cpus_.push_back(1);
    if (cpus_.back() == last)
        return {};
    auto given = giveDriverItsThread(place_->device(), place_->deviceName(), cpus_.back());
    if (!given)
        return std::unexpected(given.error());
    driver_ = *given;
    return putDriverFirst(false);
}

Result<void> FarSide::putDriverFirst(bool first) const {
    if (!driver_)
        return {};
    return first ? makeFirst(*driver_) : makeEqual(*driver_);
}

void FarSide::setRate(double rate) {
    constexpr double parts = 1024e9; // of a second
    programs_->bss->due = 0;
    programs_->bss->interval = rate > 0 ? static_cast<std::uint64_t>(parts / rate) : 0;
}

int FarSide::giveProgram() const {
    return bpf_program__fd(programs_->progs.give);
}

std::uint64_t FarSide::counted(unsigned which) const {
    return sumOfProcessors(bpf_map__fd(programs_->maps.counts), which);
}

} // namespace tna::bench
