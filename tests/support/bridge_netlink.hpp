// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

namespace tna::test {

/// Settings of bridges that bridge(8) may be too old for, by netlink in the calling thread's network
/// namespace. They return 0, or the kernel's errno.

/// IFLA_BRPORT_*, a flag. Newer than the headers may be: 40 mab, 43 neigh_vlan_suppress.
[[nodiscard]] int setPortFlag(const std::string& port, std::uint16_t attribute, bool on);

/// Makes a station behind a port a static entry, with FDB_NOTIFY_*.
[[nodiscard]] int setActivity(const std::string& port, const Mac& station, std::uint8_t notify);

} // namespace tna::test
