// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capability/capabilities.hpp"
#include "model/link.hpp"

#include <linux/bpf.h>
#include <optional>

namespace tna::deploy {

// include/uapi/linux/bpf.h, newer than the headers of Debian 12
inline constexpr auto tcxIngress = static_cast<bpf_attach_type>(46);
inline constexpr auto tcxEgress = static_cast<bpf_attach_type>(47);

/// Whether this kernel has tcx, found out by asking for the programs of the loopback.
[[nodiscard]] capability::Finding findTcx();

/// Whether BPF programs of traffic control are attached to a device (tcx, since 6.6; nobody announces them).
/// If that cannot be found out, they may be.
[[nodiscard]] bool hasTcxAtIngress(model::IfIndex ifindex);
[[nodiscard]] bool hasTcxAtEgress(model::IfIndex ifindex);

/// What a link attaches a program to.
struct AttachedTo {
    bool tcx = false;           ///< else XDP
    model::IfIndex ifindex = 0; ///< 0: the device is gone
};
/// Nothing: it is another kind of link.
[[nodiscard]] std::optional<AttachedTo> attachedBy(int link);

/// Whether the program of such a link is on the device that has this index in this namespace: a link goes
/// with its device to other ones, and indices are the same there.
[[nodiscard]] bool isAttachedHere(int link, model::IfIndex ifindex);

} // namespace tna::deploy
