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

/// Makes an array of one value, unless it is there.
Result<void> need(UniqueFd& map, const char* name, std::size_t size, unsigned flags) {
    if (map)
        return {};
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
    map = UniqueFd{
        bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), static_cast<__u32>(size), 1, &options)};
    if (!map)
        return failErrno(errno, "cannot create {}, a part of the flow cache, of {} bytes", name, size);
    return {};
}

/// The controller reads what they have counted.
constexpr unsigned readable = BPF_F_MMAPABLE;
/// Such a map begins where a page does.
constexpr unsigned aligned = BPF_F_MMAPABLE;
} // namespace

Result<FlowCache> FlowCache::create(unsigned perCpu, unsigned destinations) {
    const auto cpus = static_cast<unsigned>(libbpf_num_possible_cpus());
    while (perCpu * cpus > largestFlowCache && perCpu > 1)
        perCpu /= 2;
    FlowCache cache;
    cache.perCpu = perCpu;
    cache.total = perCpu * cpus;
    cache.destinationLines = destinations / TNA_DESTINATION_WAYS / cpus;
    cache.destinationLinesTotal = cache.destinationLines * cpus;
    if (auto made = need(cache.flows, "tna_flows", cache.total * sizeof(tna_flow), readable); !made)
        return std::unexpected(made.error());
    return cache;
}

Result<std::map<int, int>> FlowCache::replacements(const assemble::Profile& profile,
                                                   const PipelineObject& pipeline) {
    std::map<int, int> replaced{{pipeline.flows, flows.get()}};
    const auto part = [&](UniqueFd& map, int place, const char* name, std::size_t size, unsigned flags) {
        auto made = need(map, name, size, flags);
        replaced[place] = map.get();
        return made;
    };
    Result<void> made;
    if (profile.route)
        made = part(routes, pipeline.routes, "tna_routes", total * sizeof(tna_route), readable);
    if (made && profile.route)
        made =
            part(routes6, pipeline.routes6, "tna_routes6", routes6For(total) * sizeof(tna_route6), readable);
    if (made && profile.vlanProtocol != 0)
        made = part(vlans, pipeline.flowVlans, "tna_flow_vlans", total * sizeof(tna_flow_vlans), 0);
    if (made && profile.stacked())
        made = part(stacks, pipeline.routeStacks, "tna_stacks",
                    (total + routes6For(total)) * sizeof(tna_route_stack), 0);
    if (made && profile.manyRoutes && destinationLinesTotal > 0)
        made = part(destinations, pipeline.destinations, "tna_destinations",
                    destinationLinesTotal * TNA_DESTINATION_WAYS * sizeof(tna_destination), aligned);
    if (!made)
        return std::unexpected(made.error());
    return replaced;
}

} // namespace tna::deploy
