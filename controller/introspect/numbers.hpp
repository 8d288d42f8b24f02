// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <linux/if_link.h>

/// Attribute numbers of the kernel's uapi that are newer than the headers of Debian 12 (6.1).
namespace tna::introspect::number {

inline constexpr std::uint16_t brportMab = 40;               // IFLA_BRPORT_MAB, 6.2
inline constexpr std::uint16_t brportNeighVlanSuppress = 43; // IFLA_BRPORT_NEIGH_VLAN_SUPPRESS, 6.4
inline constexpr std::uint16_t brportBackupNextHop = 44;     // IFLA_BRPORT_BACKUP_NHID, 6.6
inline constexpr std::uint16_t brFdbLearned = 48;            // IFLA_BR_FDB_N_LEARNED, 6.7
inline constexpr std::uint16_t brFdbMaxLearned = 49;         // IFLA_BR_FDB_MAX_LEARNED, 6.7

inline constexpr std::uint32_t ntfExtLocked = 1U << 1U; // NTF_EXT_LOCKED, 6.2

static_assert(brportMab == IFLA_BRPORT_LOCKED + 1);
static_assert(brFdbLearned == IFLA_BR_MCAST_QUERIER_STATE + 1);

} // namespace tna::introspect::number
