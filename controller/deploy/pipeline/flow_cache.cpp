// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/flow_cache.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>

namespace tna::deploy {

namespace {
/// Entries of all CPUs: more memory than they take should be nobody's surprise. A program could address more
/// (BPF_MAX_VAR_OFF).
constexpr unsigned largestFlowCache = 1U << 19U;

/// Such a map can be read by the controller, and begins where a page does.
unsigned flagsFor(const assemble::CacheMap& wanted) {
    return wanted.counting != assemble::Counting::nothing || wanted.onPageBoundary ? BPF_F_MMAPABLE : 0;
}
} // namespace

Result<FlowCache> FlowCache::create(unsigned perCpu, unsigned destinations) {
    const auto cpus = static_cast<unsigned>(libbpf_num_possible_cpus());
    while (perCpu * cpus > largestFlowCache && perCpu > 1)
        perCpu /= 2;
    FlowCache cache;
    auto& sizes = cache.sizes_;
    sizes.flowsPerCpu = perCpu;
    sizes.flows = perCpu * cpus;
    sizes.destinationLines = destinations / TNA_DESTINATION_WAYS / cpus;
    sizes.destinationLinesTotal = sizes.destinationLines * cpus;
    if (auto made = cache.need(assemble::flowCache(sizes)); !made)
        return std::unexpected(made.error());
    return cache;
}

/// An array of one value; made unless it is there.
Result<int> FlowCache::need(const assemble::CacheMap& wanted) {
    if (const auto it = made_.find(wanted.name); it != made_.end())
        return it->second.get();
    const auto name = ("tna_" + wanted.name).substr(0, BPF_OBJ_NAME_LEN - 1);
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flagsFor(wanted));
    UniqueFd map{bpf_map_create(BPF_MAP_TYPE_ARRAY, name.c_str(), sizeof(__u32),
                                static_cast<__u32>(wanted.bytes), 1, &options)};
    if (!map)
        return failErrno(errno, "cannot create {}, a part of the flow cache, of {} bytes", name,
                         wanted.bytes);
    if (wanted.counting != assemble::Counting::nothing)
        counting_.push_back({map.get(), wanted.bytes, wanted.counting});
    return made_.emplace(wanted.name, std::move(map)).first->second.get();
}

Result<std::map<int, int>> FlowCache::replacements(const assemble::Profile& profile,
                                                   const PipelineObject& pipeline) {
    auto caches = assemble::cachesOf(profile, sizes_);
    caches.push_back(assemble::flowCache(sizes_));
    std::map<int, int> replaced;
    for (const auto& cache : caches) {
        const auto map = need(cache);
        if (!map)
            return std::unexpected(map.error());
        replaced[pipeline.cache(cache.name)] = *map;
    }
    return replaced;
}

} // namespace tna::deploy
