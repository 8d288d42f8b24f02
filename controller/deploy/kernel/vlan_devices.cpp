// SPDX-License-Identifier: Apache-2.0
#include "deploy/kernel/vlan_devices.hpp"

#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <tna/fastpath.h>

#include "vlan_devices.skel.h"

namespace tna::deploy {

Result<VlanDevices> VlanDevices::load() {
    auto* skeleton = ::vlan_devices::open_and_load();
    if (skeleton == nullptr)
        return failErrno(errno, "cannot look for VLAN devices of other network namespaces");
    Skeleton owned{skeleton,
                   [](void* object) { ::vlan_devices::destroy(static_cast<::vlan_devices*>(object)); }};
    return VlanDevices{std::move(owned), skeleton->progs.count_vlan_devices, skeleton->bss->answer};
}

Result<bool> VlanDevices::any(model::IfIndex ifindex) {
    *answer_ = {ifindex, 0, 0};
    std::array<char, 64> frame{};
    LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.data(), .data_size_in = frame.size(),
                .repeat = 1);
    if (const int error = bpf_prog_test_run_opts(bpf_program__fd(program_), &options); error != 0)
        return failErrno(error, "cannot look for VLAN devices");
    if (answer_->found == 0)
        return fail("the device with index {} was not found in the kernel's own table", ifindex);
    return answer_->count > 0;
}

} // namespace tna::deploy
