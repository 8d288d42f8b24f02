// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tna::diff {

/// Of a file of /proc/net (snmp, snmp6, netstat), the counters of a host's own business, as lines of name and
/// value: what it delivers, sends, and complains about. Not those of what it merely forwards, which the fast
/// path counts itself.
[[nodiscard]] std::string ownCounters(const std::string& file);

} // namespace tna::diff
