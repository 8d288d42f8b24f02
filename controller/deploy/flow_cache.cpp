// SPDX-License-Identifier: Apache-2.0
#include "deploy/fast_path.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace tna::deploy {

namespace {
/// The kernel takes no larger value for an array map (KMALLOC_MAX_SIZE).
constexpr unsigned largestFlowCache =
    (4U << 20U) / std::max({sizeof(tna_flow), sizeof(tna_route), sizeof(tna_route6) / 2});
} // namespace

Result<FlowCache> FlowCache::create(unsigned perCpu) {
    const auto cpus = static_cast<unsigned>(libbpf_num_possible_cpus());
    while (perCpu * cpus > largestFlowCache && perCpu > 1)
        perCpu /= 2;
    const unsigned total = perCpu * cpus;
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
    const auto map = [&](const char* name, std::size_t size) {
        return UniqueFd{
            bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), static_cast<__u32>(size), 1, &options)};
    };
    UniqueFd flows = map("tna_flows", total * sizeof(tna_flow));
    UniqueFd routes = map("tna_routes", total * sizeof(tna_route));
    UniqueFd routes6 = map("tna_routes6", routes6For(total) * sizeof(tna_route6));
    if (!flows || !routes || !routes6)
        return failErrno(errno, "cannot create the flow cache of {} entries", total);
    return FlowCache{std::move(flows), std::move(routes), std::move(routes6), perCpu, total};
}

Result<UniqueFd> FlowCache::createBeside(const char* name, std::size_t size) const {
    UniqueFd map{bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), total * static_cast<__u32>(size), 1,
                                nullptr)};
    if (!map)
        return failErrno(errno, "cannot create {}, a part of the flow cache, of {} entries", name, total);
    return map;
}

} // namespace tna::deploy
