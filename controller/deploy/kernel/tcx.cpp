// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/tcx.hpp"

#include <bpf/bpf.h>
#include <cerrno>

namespace tna::deploy {

namespace {
// include/uapi/linux/bpf.h, newer than the headers of Debian 12
constexpr auto tcxIngress = static_cast<bpf_attach_type>(46);
constexpr auto tcxEgress = static_cast<bpf_attach_type>(47);

bool attached(model::IfIndex ifindex, bpf_attach_type where) {
    __u32 flags = 0;
    __u32 programs = 0;
    const int error = bpf_prog_query(static_cast<int>(ifindex), where, 0, &flags, nullptr, &programs);
    // A kernel without tcx says EINVAL. What cannot be asked about may be there.
    return error == 0 ? programs > 0 : error != -EINVAL;
}
} // namespace

bool hasTcxAtIngress(model::IfIndex ifindex) {
    return attached(ifindex, tcxIngress);
}

bool hasTcxAtEgress(model::IfIndex ifindex) {
    return attached(ifindex, tcxEgress);
}

} // namespace tna::deploy
