// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/compare.hpp"
#include "diff/fast_path.hpp"

#include <string>

namespace tna::diff {

/// Of a file of /proc/net (snmp, snmp6, netstat), the counters of a host's own business, as lines of name and
/// value: what it delivers, sends, and complains about. Not those of what it merely forwards, which the fast
/// path counts itself.
[[nodiscard]] std::string ownCounters(const std::string& file);

/// Of such a file, how many packets a host has forwarded.
[[nodiscard]] std::uint64_t forwardedBy(const std::string& file);

/// Whether the fast path has counted right, where all that it does is to route: what Linux has forwarded in
/// the one world, and in the other one.
[[nodiscard]] std::optional<Difference> compareForwarded(std::uint64_t plain, std::uint64_t fast,
                                                         const Figures& figures);
/// The same by the lengths of all that came out: as many as were fast may be the shortest or the longest
/// ones.
[[nodiscard]] std::optional<Difference> compareCounted(std::vector<std::size_t> lengths,
                                                       const Figures& figures);

} // namespace tna::diff
