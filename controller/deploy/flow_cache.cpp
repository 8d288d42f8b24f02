// SPDX-License-Identifier: Apache-2.0
#include "deploy/flow_cache.hpp"

#include "deploy/counters.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>

namespace tna::deploy {

namespace {
/// Entries of all CPUs: more memory than they take should be nobody's surprise. A program could address more
/// (BPF_MAX_VAR_OFF).
constexpr unsigned largestFlowCache = 1U << 19U;
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
    return FlowCache{std::move(flows), std::move(routes), std::move(routes6), perCpu, total, {}, {}};
}

Result<void> FlowCache::need(UniqueFd& map, const char* name, std::size_t size) const {
    if (map)
        return {};
    map = UniqueFd{bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), total * static_cast<__u32>(size),
                                  1, nullptr)};
    if (!map)
        return failErrno(errno, "cannot create {}, a part of the flow cache, of {} entries", name, total);
    return {};
}

Result<std::map<int, int>> FlowCache::replacements(const assemble::Profile& profile,
                                                   const PipelineObject& pipeline) {
    std::map<int, int> replaced{
        {pipeline.flows, flows.get()}, {pipeline.routes, routes.get()}, {pipeline.routes6, routes6.get()}};
    if (profile.vlanProtocol != 0) {
        if (auto made = need(vlans, "tna_flow_vlans", sizeof(tna_flow_vlans)); !made)
            return std::unexpected(made.error());
        replaced[pipeline.flowVlans] = vlans.get();
    }
    if (profile.stacked) {
        if (auto made = need(bridges, "tna_bridges", sizeof(tna_route_bridges)); !made)
            return std::unexpected(made.error());
        replaced[pipeline.routeBridges] = bridges.get();
    }
    return replaced;
}

} // namespace tna::deploy
