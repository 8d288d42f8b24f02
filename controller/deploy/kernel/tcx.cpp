// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/tcx.hpp"

#include "base/error.hpp"

#include <bpf/bpf.h>
#include <cerrno>

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

} // namespace tna::deploy
