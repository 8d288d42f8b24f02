// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/grace_period.hpp"

#include "base/unique_fd.hpp"

#include <bpf/bpf.h>

namespace tna::deploy {

namespace {
Result<UniqueFd> makeMap(bpf_map_type type, int inner) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(inner));
    UniqueFd map{
        bpf_map_create(type, "tna_grace", sizeof(__u32), sizeof(__u32), 1, inner < 0 ? nullptr : &options)};
    if (!map)
        return failErrno(errno, "cannot wait for frames");
    return map;
}
} // namespace

/// The kernel waits for all programs that run when a map of maps is changed (maybe_wait_bpf_programs()).
/// membarrier(2) would do the same, but not where processors are without ticks (nohz_full).
Result<void> letFramesPass() {
    auto inner = makeMap(BPF_MAP_TYPE_ARRAY, -1);
    if (!inner)
        return std::unexpected(inner.error());
    auto outer = makeMap(BPF_MAP_TYPE_ARRAY_OF_MAPS, inner->get());
    if (!outer)
        return std::unexpected(outer.error());
    const __u32 zero = 0;
    const int fd = inner->get();
    if (bpf_map_update_elem(outer->get(), &zero, &fd, BPF_ANY) != 0)
        return failErrno(errno, "cannot wait for frames");
    return {};
}

} // namespace tna::deploy
