// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/packet_filters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bpf/bpf.h>
#include <cerrno>
#include <span>
#include <tna/fastpath.h>

#include "packet_filters.skel.h"
#include "packet_filters_typed.skel.h"

namespace tna::deploy {

namespace {
constexpr const char* listingFilters = "cannot list the filters of packet sockets";
} // namespace

Result<PacketFilters> PacketFilters::load(Casts casts) {
    return casts == Casts::untyped ? loadOf<::packet_filters>() : loadOf<::packet_filters_typed>();
}

template <typename Generated>
Result<PacketFilters> PacketFilters::loadOf() {
    auto* skeleton = Generated::open_and_load();
    if (skeleton == nullptr)
        return failErrno(errno, listingFilters);
    Skeleton owned{skeleton, [](void* object) { Generated::destroy(static_cast<Generated*>(object)); }};
    return PacketFilters{std::move(owned), skeleton->progs.list_filters, skeleton->bss->filters};
}

Result<std::set<model::PacketFilter>> PacketFilters::read() {
    std::array<char, 64> frame{};
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(program_), &options); error != 0)
        return failErrno(-error, listingFilters);
    std::set<model::PacketFilter> filters;
    for (const auto& one : std::span(answer_->filter).first(answer_->number)) {
        model::PacketFilter filter;
        for (const auto instruction : std::span(one.instructions).first(one.length))
            filter.push_back(std::bit_cast<model::FilterInstruction>(instruction));
        filters.insert(std::move(filter));
    }
    return filters;
}

} // namespace tna::deploy
