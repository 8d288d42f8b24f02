// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/tcx.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <linux/if_link.h>
#include <ranges>

namespace tna::deploy {

namespace {
constexpr __u32 xdpLink = BPF_LINK_TYPE_XDP;
constexpr __u32 tcxLink = 11; // BPF_LINK_TYPE_TCX

bool attached(model::IfIndex ifindex, bpf_attach_type where) {
    __u32 flags = 0;
    __u32 programs = 0;
    const int error = bpf_prog_query(static_cast<int>(ifindex), where, 0, &flags, nullptr, &programs);
    // A kernel without tcx says EINVAL. What cannot be asked about may be there.
    return error == 0 ? programs > 0 : error != -EINVAL;
}
} // namespace

capability::Finding findTcx() {
    constexpr int loopback = 1;
    __u32 flags = 0;
    __u32 programs = 0;
    const int error = bpf_prog_query(loopback, tcxIngress, 0, &flags, nullptr, &programs);
    if (error == 0)
        return {true, "programs can be attached to devices at tcx"};
    return {false, error == -EINVAL ? "the kernel has no tcx, which came with Linux 6.6"
                                    : "the kernel does not tell of programs at tcx: " + errnoText(-error)};
}

bool hasTcxAtIngress(model::IfIndex ifindex) {
    return attached(ifindex, tcxIngress);
}

bool hasTcxAtEgress(model::IfIndex ifindex) {
    return attached(ifindex, tcxEgress);
}

/// What is known of either kind begins with the index.
std::optional<AttachedTo> attachedBy(int link) {
    bpf_link_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(link, &info, &size) != 0 || (info.type != xdpLink && info.type != tcxLink))
        return std::nullopt;
    return AttachedTo{info.type == tcxLink, info.xdp.ifindex};
}

bool isAttachedHere(int link, model::IfIndex ifindex) {
    bpf_link_info info{};
    __u32 size = sizeof(info);
    if (bpf_obj_get_info_by_fd(link, &info, &size) != 0)
        return false;
    std::array<__u32, 64> programs{}; // BPF_MPROG_MAX
    __u32 flags = 0, count = programs.size();
    if (info.type == tcxLink)
        return bpf_prog_query(static_cast<int>(ifindex), tcxIngress, 0, &flags, programs.data(), &count) ==
                   0 &&
               std::ranges::find(programs | std::views::take(count), info.prog_id) !=
                   std::ranges::begin(programs) + count;
    __u32 program = 0;
    return bpf_xdp_query_id(static_cast<int>(ifindex), XDP_FLAGS_DRV_MODE, &program) == 0 &&
           program == info.prog_id;
}

} // namespace tna::deploy
