// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/link.hpp"

#include <memory>

struct bpf_program;
struct tna_vlan_devices;

namespace tna::deploy {

/// Looks for VLAN devices on links, also for those that live in other network namespaces, which netlink does
/// not tell. Works in the network namespace of the calling thread.
class VlanDevices {
public:
    [[nodiscard]] static Result<VlanDevices> load();

    [[nodiscard]] Result<bool> any(model::IfIndex ifindex);

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    VlanDevices(Skeleton skeleton, const bpf_program* program, tna_vlan_devices& answer)
        : skeleton_(std::move(skeleton)), program_(program), answer_(&answer) {}

    Skeleton skeleton_; ///< owns the program and the memory of the answer
    const bpf_program* program_;
    tna_vlan_devices* answer_;
};

} // namespace tna::deploy
