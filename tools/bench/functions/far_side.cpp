// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/far_side.hpp"

#include "bench/traffic/traffic.hpp"
#include "swap.skel.h"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <net/if.h>

namespace tna::bench {

std::vector<unsigned char> swapped(std::vector<unsigned char> frame) {
    constexpr std::ptrdiff_t address = 6;
    if (frame.size() >= 2 * address)
        std::swap_ranges(frame.begin(), frame.begin() + address, frame.begin() + address);
    return frame;
}

Result<std::unique_ptr<FarSide>> FarSide::make() {
    auto place = DropPlace::make(1);
    if (!place)
        return std::unexpected(place.error());
    std::unique_ptr<FarSide> side{new FarSide(std::move(*place))};
    if (auto loaded = side->load(); !loaded)
        return std::unexpected(loaded.error());
    return side;
}

FarSide::~FarSide() {
    link_.reset();
    swap__destroy(programs_);
}

Result<void> FarSide::load() {
    programs_ = swap__open();
    if (programs_ == nullptr)
        return failErrno(errno, "cannot open the programs that swap addresses");
    const auto offered = place_->frame(swappedSize);
    const auto expected = swapped(offered);
    static_assert(sizeof(programs_->rodata->expected) == swappedSize);
    std::memcpy(programs_->rodata->expected, expected.data(), expected.size());
    std::memcpy(programs_->rodata->addresses, offered.data(), sizeof(programs_->rodata->addresses));
    if (swap__load(programs_) != 0)
        return failErrno(errno, "cannot load the programs that swap addresses");
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

int FarSide::giveProgram() const {
    return bpf_program__fd(programs_->progs.give);
}

int FarSide::swapProgram() const {
    return bpf_program__fd(programs_->progs.swap);
}

std::uint64_t FarSide::counted(unsigned which) const {
    return sumOfProcessors(bpf_map__fd(programs_->maps.counts), which);
}

} // namespace tna::bench
