// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/fast_path.hpp"
#include "deploy/kernel/kernel_probe.hpp"

#include <array>
#include <chrono>

namespace tna::deploy {

struct Limits {
    unsigned maxPorts = 1024;
    unsigned flowsPerCpu = 16384; ///< a power of two
    unsigned maxStations = 131072;
    unsigned destinations = 4194304; ///< of all CPUs
    std::chrono::milliseconds refresh =
        std::chrono::hours(24); ///< so old is the entry of a station or connection in use at most
    unsigned selfCheck = 1024;  ///< one packet in so many is decided twice, a power of two; 0: none
    unsigned connections = 1;   ///< that are learnt where there are rules
};

/// Addresses of br_netfilter's hook functions (pre-routing, forward, post-routing), AppArmor's, and
/// br_netfilter's at local-in and at IPv4's pre-routing, and those of flowtables; 0 if not there.
using HookFunctions = std::array<std::uint64_t, 9>;

/// The fast path at XDP.
[[nodiscard]] Result<std::unique_ptr<FastPath>>
loadFastPath(const Limits& limits, const NamespaceFacts& facts, const HookFunctions& hooks, Casts casts);
/// The one at tcx beside the one at XDP, which is `other`: the same flows of rules are known to both.
[[nodiscard]] Result<std::unique_ptr<FastPath>> loadFastPathAtTcx(const Limits& limits,
                                                                  const NamespaceFacts& facts,
                                                                  const HookFunctions& hooks, Casts casts,
                                                                  const FastPath& other);
/// The one for kernels that are not read in place.
[[nodiscard]] Result<std::unique_ptr<FastPath>> loadWatchedFastPath(const Limits& limits,
                                                                    Buffers buffers = buffersOfKernel());
/// The same, where the bridge can be asked for stations (kernel-patches/).
[[nodiscard]] Result<std::unique_ptr<FastPath>> loadAskingFastPath(const Limits& limits);

} // namespace tna::deploy
